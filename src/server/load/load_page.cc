// SPDX-License-Identifier: Apache-2.0
// The page of a load test: one drawing a figure, in SVG, and the table; no script, nothing from elsewhere.
#include <algorithm>
#include <cmath>

#include "server/load/load_report.h"

namespace nereid::server::load {
namespace {

constexpr double kWidth = 640, kHeight = 300, kLeft = 56, kRight = 16, kTop = 28, kBottom = 44;
constexpr std::string_view kColors[] = {"#2563eb", "#dc2626", "#059669", "#d97706",
                                        "#7c3aed", "#0891b2", "#be185d", "#4b5563"};
constexpr size_t kPoints = 200;  // of a curve

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '&') {
      out += "&amp;";
    } else if (c == '"') {
      out += "&quot;";
    } else {
      out += c;
    }
  }
  return out;
}

struct Curve {
  std::string name;
  std::vector<std::pair<double, double>> points;
};

// 1, 2 or 5 times a power of ten: about five of them in `range`.
double tick_step(double range) {
  if (!(range > 0)) return 1;
  const double raw = range / 5, power = std::pow(10, std::floor(std::log10(raw)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * power >= raw) return factor * power;
  return 10 * power;
}

std::string drawing(std::string_view title, std::string_view x_name, std::string_view y_name,
                    const std::vector<Curve>& curves, double y_most) {
  double x_most = 0;
  for (const Curve& curve : curves)
    for (const auto& [x, y] : curve.points) x_most = std::max(x_most, x), y_most = std::max(y_most, y);
  if (x_most <= 0) x_most = 1;
  if (y_most <= 0) y_most = 1;
  const auto px = [&](double x) { return kLeft + x / x_most * (kWidth - kLeft - kRight); };
  const auto py = [&](double y) { return kHeight - kBottom - y / y_most * (kHeight - kTop - kBottom); };
  std::string svg = fmt::format("<figure><svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">", kWidth, kHeight,
                                escaped(title));
  svg += fmt::format("<text class=\"title\" x=\"{}\" y=\"16\">{}</text>", kLeft, escaped(title));
  for (double x = 0, step = tick_step(x_most); x <= x_most * 1.0001; x += step)
    svg += fmt::format(
        "<line class=\"grid\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1}\" y2=\"{2}\"/><text class=\"tick\" "
        "text-anchor=\"middle\" x=\"{0:.1f}\" y=\"{3}\">{4:.6g}</text>",
        px(x), kTop, kHeight - kBottom, kHeight - kBottom + 14, x);
  for (double y = 0, step = tick_step(y_most); y <= y_most * 1.0001; y += step)
    svg += fmt::format(
        "<line class=\"grid\" x1=\"{1}\" x2=\"{2}\" y1=\"{0:.1f}\" y2=\"{0:.1f}\"/><text class=\"tick\" "
        "text-anchor=\"end\" x=\"{3}\" y=\"{4:.1f}\">{5:.6g}</text>",
        py(y), kLeft, kWidth - kRight, kLeft - 6, py(y) + 4, y);
  svg += fmt::format("<text class=\"name\" text-anchor=\"middle\" x=\"{}\" y=\"{}\">{}</text>",
                     (kLeft + kWidth - kRight) / 2, kHeight - 8, escaped(x_name));
  svg += fmt::format("<text class=\"name\" transform=\"translate(12 {}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
                     (kTop + kHeight - kBottom) / 2, escaped(y_name));
  for (size_t i = 0; i < curves.size(); ++i) {
    const std::string_view color = kColors[i % std::size(kColors)];
    std::string path;
    for (const auto& [x, y] : curves[i].points) path += fmt::format("{:.1f},{:.1f} ", px(x), py(y));
    svg += fmt::format("<polyline fill=\"none\" stroke=\"{}\" stroke-width=\"2\" points=\"{}\"/>", color, path);
    if (curves[i].points.size() < 20)
      for (const auto& [x, y] : curves[i].points)
        svg += fmt::format("<circle r=\"3\" fill=\"{}\" cx=\"{:.1f}\" cy=\"{:.1f}\"/>", color, px(x), py(y));
    if (!curves[i].name.empty())
      svg += fmt::format("<text class=\"tick\" fill=\"{}\" text-anchor=\"end\" x=\"{}\" y=\"{}\">{}</text>", color,
                         kWidth - kRight - 4, kHeight - kBottom - 8 - 14 * static_cast<double>(curves.size() - 1 - i),
                         escaped(curves[i].name));
  }
  return svg + "</svg></figure>\n";
}

// The share of values that are at most so great, as far as the 99.5th percentile.
Curve distribution(const std::string& name, std::vector<double> values) {
  Curve curve{.name = name, .points = {}};
  std::sort(values.begin(), values.end());
  for (size_t i = 0; i <= kPoints && !values.empty(); ++i) {
    const double share = 0.995 * static_cast<double>(i) / kPoints;
    curve.points.emplace_back(values[static_cast<size_t>(share * static_cast<double>(values.size() - 1))], 100 * share);
  }
  return curve;
}

double ms(int64_t ns) {
  return 1e-6 * static_cast<double>(ns);
}

std::string html_table(const std::string& markdown) {
  std::string out = "<table>";
  size_t row = 0;
  for (size_t at = 0; at < markdown.size(); ++row) {
    const std::string line = markdown.substr(at, markdown.find('\n', at) - at);
    at += line.size() + 1;
    if (!line.starts_with('|') || row == 1) continue;
    out += "<tr>";
    for (size_t from = 1; from < line.size();) {
      const size_t to = std::min(line.find('|', from), line.size());
      const char* const cell = row == 0 ? "th" : "td";
      out += fmt::format("<{0}>{1}</{0}>", cell, escaped(std::string_view(line).substr(from, to - from)));
      from = to + 1;
    }
    out += "</tr>";
  }
  return out + "</table>";
}

constexpr std::string_view kHead =
    "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>nereid bench</title><style>"
    "body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:86rem;padding:0 "
    "1rem;color:#111;background:#fff}"
    "table{border-collapse:collapse;font-variant-numeric:tabular-nums;display:block;overflow-x:auto}"
    "th,td{padding:.3rem .6rem;text-align:right;border-bottom:1px solid "
    "#ddd}th:first-child,td:first-child{text-align:left}"
    "main{display:grid;grid-template-columns:repeat(auto-fit,minmax(28rem,1fr));gap:1rem}figure{margin:0}"
    ".grid{stroke:#e5e7eb}.tick{font-size:11px}.name{font-size:12px}.title{font-size:14px;font-weight:600}"
    "@media(prefers-color-scheme:dark){body{background:#111;color:#eee}svg "
    "text:not([fill]){fill:#eee}.grid{stroke:#333}}"
    "</style></head><body>\n";

}  // namespace

std::string load_page(const LoadReport& report) {
  std::vector<Curve> ttft, itl, e2e, over_time;
  Curve throughput{.name = "", .points = {}}, latency{.name = "", .points = {}};
  for (const LoadRun& run : report.runs) {
    std::vector<double> first, gaps, whole;
    int64_t begin_ns = INT64_MAX;
    for (const RequestFigures& r : run.requests) begin_ns = std::min(begin_ns, r.due_ns);
    Curve timeline{.name = run.summary.mode, .points = {}};
    for (const RequestFigures& r : run.requests) {
      if (!r.is_ok() || r.first_ns == 0) continue;
      first.push_back(ms(r.ttft_ns()));
      whole.push_back(ms(r.whole_ns()));
      for (const int64_t gap : r.gaps_ns) gaps.push_back(ms(gap));
      timeline.points.emplace_back(1e-3 * ms(r.due_ns - begin_ns), ms(r.ttft_ns()));
    }
    ttft.push_back(distribution(run.summary.mode, std::move(first)));
    itl.push_back(distribution(run.summary.mode, std::move(gaps)));
    e2e.push_back(distribution(run.summary.mode, std::move(whole)));
    std::sort(timeline.points.begin(), timeline.points.end());
    over_time.push_back(std::move(timeline));
    throughput.points.emplace_back(run.summary.level, run.summary.answer_tokens_per_second);
    latency.points.emplace_back(run.summary.answer_tokens_per_second, run.summary.ttft_ms.p95);
  }
  std::string out(kHead);
  out += fmt::format("<h1>{}</h1><p>{}{}</p>\n", escaped(report.model), escaped(report.url), escaped(report.endpoint));
  out += html_table(load_table(report)) +
         "<p>Times in milliseconds: TTFT to the first text, ITL from one piece of text to the next, E2E to the "
         "end.</p><main>\n";
  out += drawing("Time to first token", "ms", "% of requests", ttft, 100);
  out += drawing("Between pieces of text", "ms", "% of pieces", itl, 100);
  out += drawing("Whole request", "ms", "% of requests", e2e, 100);
  out += drawing("Time to first token as the test went on", "s", "ms", over_time, 0);
  if (report.runs.size() > 1) {
    out += drawing("Throughput by load", "load", "answer tokens/s", {throughput}, 0);
    out += drawing("p95 of the time to first token by throughput", "answer tokens/s", "ms", {latency}, 0);
  }
  return out + "</main></body></html>\n";
}

}  // namespace nereid::server::load
