// SPDX-License-Identifier: Apache-2.0
// The members that hold an answer to a form.
#include <array>

#include "server/protocol/openai/raw_json.h"
#include "server/protocol/openai/sampling_fields.h"

namespace nereid::server::openai {
namespace {

using sample::GrammarKind;

constexpr size_t kMaxStructures = 256;

// Reads one kind of grammar out of one member.
struct Reader {
  Fields& fields;
  std::string_view body;
  GrammarField found;

  void take(GrammarKind kind, std::string text, std::string param) {
    if (!found.spec.is_none()) {
      fields.error()->set(
          {.message = fmt::format("Only one of '{}' and '{}' may say what the answer looks like.", found.param, param),
           .param = param,
           .code = "invalid_value"});
      return;
    }
    found = {{kind, std::move(text)}, std::move(param)};
  }

  // A schema as an object, or (with guided_json) as its text.
  void schema(Fields& in, std::string_view name, std::initializer_list<JsonStep> path) {
    const Json* value = in.any(name);
    if (!value) return;
    if (value->is_object()) {
      take(GrammarKind::kJsonSchema, std::string(raw_value(body, std::span(path.begin(), path.size()))), in.path(name));
    } else if (value->is_string()) {
      take(GrammarKind::kJsonSchema, value->get<std::string>(), in.path(name));
    } else {
      in.fail_type(name, "an object that is a JSON schema", *value);
    }
  }

  void text(Fields& in, std::string_view name, GrammarKind kind) {
    if (std::optional<std::string> value = in.text(name)) take(kind, std::move(*value), in.path(name));
  }

  void choice(Fields& in, std::string_view name) {
    if (!in.has(name)) return (void)in.any(name);
    const std::vector<std::string> choices = in.texts(name, 1024);
    if (choices.empty())
      in.fail(name, "empty_array",
              fmt::format("Invalid '{}': an answer needs at least one text to choose.", in.path(name)));
    else
      take(GrammarKind::kChoice, sample::choice_of(choices).text, in.path(name));
  }

  void response_format() {
    const Json* format = fields.object("response_format");
    if (!format) return;
    Fields in(*format, fields.error(), "response_format");
    static constexpr std::string_view kTypes[] = {"text",           "json_object", "json_schema",
                                                  "structural_tag", "regex",       "grammar"};
    in.require("type");
    const std::string type = in.word("type", kTypes).value_or("text");
    if (type == "json_object") {
      if (in.has("schema"))  // as llama.cpp takes it
        schema(in, "schema", {std::string_view("response_format"), std::string_view("schema")});
      else
        take(GrammarKind::kJson, "", "response_format");
    } else if (type == "json_schema") {
      in.require("json_schema");
      const Json* wrapped = in.object("json_schema");
      if (!wrapped) return;
      Fields inner(*wrapped, fields.error(), "response_format.json_schema");
      inner.ignore({"description", "strict"});
      inner.required_text("name");
      // Without a schema any JSON will do.
      if (!inner.has("schema")) take(GrammarKind::kJson, "", "response_format");
      schema(inner, "schema",
             {std::string_view("response_format"), std::string_view("json_schema"), std::string_view("schema")});
    } else if (type == "structural_tag") {
      structural_tag(in);
    } else if (type == "regex") {
      text(in, "pattern", GrammarKind::kRegex);
    } else if (type == "grammar") {
      text(in, "grammar", GrammarKind::kEbnf);
    }
  }

  // {"type":"structural_tag","format":{...}}, or as it was before: "structures" that begin upon "triggers".
  void structural_tag(Fields& in) {
    const auto raw = [&](std::initializer_list<JsonStep> path) {
      return raw_value(body, std::span(path.begin(), path.size()));
    };
    in.object("format");
    const Json* structures = in.array("structures");
    const Json* triggers = in.array("triggers");
    std::string text(raw({std::string_view("response_format")}));
    if (structures && triggers) {
      // The body is gone through for each.
      if (structures->size() > kMaxStructures)
        return in.fail("structures", "array_above_max_length",
                       fmt::format("Invalid '{}': array too long. Expected an array with maximum length {}, but got an "
                                   "array with length {} instead.",
                                   in.path("structures"), kMaxStructures, structures->size()));
      std::string tags;
      for (size_t i = 0; i < structures->size(); ++i) {
        const std::string_view structure =
            raw({std::string_view("response_format"), std::string_view("structures"), i});
        const auto part = [&](std::string_view name) {
          const std::array<JsonStep, 1> path = {name};
          const std::string_view text_of_part = raw_value(structure, path);
          return text_of_part.empty() ? std::string_view("\"\"") : text_of_part;
        };
        tags +=
            fmt::format(R"({}{{"type":"tag","begin":{},"content":{{"type":"json_schema","json_schema":{}}},"end":{}}})",
                        i > 0 ? "," : "", part("begin"), part("schema"), part("end"));
      }
      text =
          fmt::format(R"({{"type":"structural_tag","format":{{"type":"triggered_tags","triggers":{},"tags":[{}]}}}})",
                      raw({std::string_view("response_format"), std::string_view("triggers")}), tags);
    }
    take(GrammarKind::kStructuralTag, std::move(text), "response_format");
  }

  void structured_outputs() {
    const Json* value = fields.object("structured_outputs");
    if (!value) return;
    Fields in(*value, fields.error(), "structured_outputs");
    schema(in, "json", {std::string_view("structured_outputs"), std::string_view("json")});
    text(in, "regex", GrammarKind::kRegex);
    choice(in, "choice");
    text(in, "grammar", GrammarKind::kEbnf);
    text(in, "structural_tag", GrammarKind::kStructuralTag);
    if (in.boolean("json_object").value_or(false)) take(GrammarKind::kJson, "", "structured_outputs.json_object");
  }
};

}  // namespace

GrammarField read_grammar(Fields& fields, std::string_view body) {
  Reader reader{fields, body, {}};
  reader.response_format();
  reader.structured_outputs();
  reader.schema(fields, "guided_json", {std::string_view("guided_json")});
  reader.schema(fields, "json_schema", {std::string_view("json_schema")});
  reader.text(fields, "guided_regex", GrammarKind::kRegex);
  reader.text(fields, "guided_grammar", GrammarKind::kEbnf);
  reader.text(fields, "grammar", GrammarKind::kEbnf);
  reader.choice(fields, "guided_choice");
  fields.ignore({"guided_decoding_backend", "guided_whitespace_pattern"});
  return std::move(reader.found);
}

}  // namespace nereid::server::openai
