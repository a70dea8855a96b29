// SPDX-License-Identifier: Apache-2.0
// Nereid for C++: a thin layer over the C interface (nereid.h, which says what every call means). C++17 and newer.
//
//   nereid::Engine engine = nereid::Engine::open("model.onnx").value_or_throw();
//   nereid::Context context = engine.context().value_or_throw();
//   context.set_input("x", nereid::View(pixels, {1, 3, 224, 224})).or_throw();
//   context.run().or_throw();
//   nereid::View scores = context.output("y").value_or_throw();
//
// Handles close themselves and can be moved, not copied. Errors are values: a Status, or a Result that is a value or a
// Status. Nothing throws but or_throw() and value_or_throw() (nereid::Error) and what the standard library throws when
// memory runs out. Thread rules are those of nereid.h.
#ifndef NEREID_NEREID_HPP
#define NEREID_NEREID_HPP

#include <nereid/nereid.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <nereid/values.hpp>
#include <string>
#include <utility>
#include <vector>

namespace nereid {
inline namespace v1 {

// What an input or output is declared to be.
struct ValueInfo {
  std::string name;
  nereid_kind kind = NEREID_TENSOR;
  nereid_dtype dtype = NEREID_DTYPE_NONE;
  bool ranked = false;
  std::vector<std::int64_t> sizes;      // -1: open
  std::vector<std::string> size_names;  // of open ones
};

struct InputShape {
  std::string name;
  std::vector<std::int64_t> sizes;
};

struct BuildOptions {
  std::string precision = "f32";
  int threads = 0;
  bool strip = false;
  int level = 0;             // 0: kernels are chosen by rule; to 5: timed against each other
  std::string timing_cache;  // a file; empty: none
  double accuracy = 0;       // a bound for the error of a mix of precisions; 0: none
  std::string calibration_folder, calibration_cache;
  std::vector<InputShape> shapes;
  // False: stop.
  std::function<bool(const char* stage, std::int64_t done, std::int64_t total)> progress;
  std::function<void(const char* text)> warn;
};

struct OpenOptions {
  std::string device = "cpu";
  std::string precision = "f32";
  int threads = 0;
  std::vector<InputShape> shapes;
  std::function<void(const char* text)> warn;
};

struct LayerTime {
  std::string label, kernel;
  std::int64_t total_ns = 0;
};

namespace detail {

inline std::vector<nereid_input_shape> c_shapes(const std::vector<InputShape>& shapes) {
  std::vector<nereid_input_shape> out;
  for (const InputShape& s : shapes)
    out.push_back({s.name.c_str(), static_cast<std::int32_t>(s.sizes.size()), s.sizes.data()});
  return out;
}

// The C struct; `shapes` and `options` must live as long as it is used.
inline nereid_build_options c_options(const BuildOptions& options, const std::vector<nereid_input_shape>& shapes) {
  nereid_build_options out = NEREID_BUILD_OPTIONS_INIT;
  out.precision = options.precision.c_str();
  out.threads = options.threads;
  out.strip = options.strip ? 1 : 0;
  out.level = options.level;
  out.accuracy = options.accuracy;
  const auto path = [](const std::string& text) { return text.empty() ? nullptr : text.c_str(); };
  out.timing_cache = path(options.timing_cache);
  out.calibration_folder = path(options.calibration_folder);
  out.calibration_cache = path(options.calibration_cache);
  out.shapes = shapes.data();
  out.shape_count = shapes.size();
  if (options.progress) {
    out.progress_user = const_cast<BuildOptions*>(&options);
    out.progress = [](void* user, const char* stage, std::int64_t done, std::int64_t total) {
      return static_cast<const BuildOptions*>(user)->progress(stage, done, total) ? 0 : 1;
    };
  }
  if (options.warn) {
    out.log_user = const_cast<BuildOptions*>(&options);
    out.log = [](void* user, nereid_log_level, const char* text) {
      static_cast<const BuildOptions*>(user)->warn(text);
    };
  }
  return out;
}

inline ValueInfo value_info(const nereid_value_info& info) {
  ValueInfo out;
  out.name = info.name;
  out.kind = info.kind;
  out.dtype = info.dtype;
  out.ranked = info.rank >= 0;
  for (std::int32_t d = 0; d < info.rank; ++d) {
    out.sizes.push_back(info.dims[d]);
    out.size_names.emplace_back(info.dim_names[d]);
  }
  return out;
}

}  // namespace detail

inline Status build(const std::string& onnx, const std::string& engine, const BuildOptions& options = {}) {
  const auto shapes = detail::c_shapes(options.shapes);
  const nereid_build_options c = detail::c_options(options, shapes);
  return Status::of(nereid_build(onnx.c_str(), engine.c_str(), &c));
}
inline Status refit(const std::string& engine, const std::string& onnx, const std::string& result,
                    const BuildOptions& options = {}) {
  const auto shapes = detail::c_shapes({});
  const nereid_build_options c = detail::c_options(options, shapes);
  return Status::of(nereid_engine_refit(engine.c_str(), onnx.c_str(), result.c_str(), &c));
}
inline Status strip(const std::string& engine, const std::string& result) {
  return Status::of(nereid_engine_strip(engine.c_str(), result.c_str()));
}

// One state of runs: for one thread at a time.
class Context {
 public:
  // Called on the library's thread when a run has ended.
  using Done = std::function<void(Context& context, const Status& status)>;

  Status set_input(std::size_t index, const View& tensor) {
    const nereid_tensor t = tensor.c_tensor();
    return Status::of(nereid_context_set_input(get(), index, &t));
  }
  Status set_input(const std::string& name, const View& tensor) {
    std::size_t index = 0;
    const nereid_status found = nereid_engine_find_input(state_->engine, name.c_str(), &index);
    return found == NEREID_OK ? set_input(index, tensor) : Status::of(found);
  }
  // `bytes` of memory at `memory`, which stays the caller's.
  Status bind_output(std::size_t index, void* memory, std::size_t bytes) {
    return Status::of(nereid_context_bind_output(get(), index, memory, bytes));
  }
  template <typename T>
  Status bind_output(std::size_t index, std::vector<T>& memory) {
    return bind_output(index, memory.data(), memory.size() * sizeof(T));
  }
  Status run() { return Status::of(nereid_context_run(get())); }

  Result<View> output(std::size_t index) {
    nereid_tensor t{};
    const nereid_status got = nereid_context_output(get(), index, &t);
    if (got != NEREID_OK) return Status::of(got);
    return View(t);
  }
  Result<View> output(const std::string& name) {
    std::size_t index = 0;
    const nereid_status found = nereid_engine_find_output(state_->engine, name.c_str(), &index);
    if (found != NEREID_OK) return Status::of(found);
    return output(index);
  }

  // `done` may be empty. It must not throw. The context must stay where it is until the run has ended.
  Result<nereid_run_id> run_async(Done done = {}) {
    nereid_run_id id = 0;
    std::unique_ptr<Call> call;
    if (done) call = std::make_unique<Call>(Call{this, std::move(done)});
    const nereid_status pushed = nereid_context_run_async(get(), call ? &Context::call_back : nullptr, call.get(), &id);
    if (pushed != NEREID_OK) return Status::of(pushed);
    (void)call.release();  // the callback deletes it
    return id;
  }
  // Id 0: everything in the queue. Negative: as long as it takes.
  Status wait(nereid_run_id id = 0, std::int64_t timeout_ms = -1) {
    return Status::of(nereid_context_wait(get(), id, timeout_ms));
  }
  Status poll(nereid_run_id id) { return Status::of(nereid_context_poll(get(), id)); }
  Status cancel(nereid_run_id id) { return Status::of(nereid_context_cancel(get(), id)); }

  Status set_profiling(bool on) { return Status::of(nereid_context_set_profiling(get(), on ? 1 : 0)); }
  Result<std::vector<LayerTime>> profile() {
    std::vector<LayerTime> layers;
    const nereid_status got = nereid_context_profile(
        get(),
        [](void* user, const nereid_layer_time* layer) {
          static_cast<std::vector<LayerTime>*>(user)->push_back({layer->label, layer->kernel, layer->total_ns});
        },
        &layers);
    if (got != NEREID_OK) return Status::of(got);
    return layers;
  }
  Result<std::vector<std::string>> notes() {
    std::vector<std::string> notes;
    const nereid_status got = nereid_context_notes(
        get(), [](void* user, const char* text) { static_cast<std::vector<std::string>*>(user)->emplace_back(text); },
        &notes);
    if (got != NEREID_OK) return Status::of(got);
    return notes;
  }
  std::int64_t memory_bytes() {
    std::int64_t bytes = 0;
    return nereid_context_memory(get(), &bytes) == NEREID_OK ? bytes : -1;
  }
  int threads() {
    std::int32_t threads = 0;
    return nereid_context_threads(get(), &threads) == NEREID_OK ? threads : 0;
  }
  nereid_context* get() noexcept { return state_->context; }

 private:
  friend class Engine;
  struct State {
    nereid_context* context = nullptr;
    const nereid_engine* engine = nullptr;  // the engine object's
    ~State() { nereid_context_close(&context); }
  };
  struct Call {
    Context* context;
    Done done;
  };
  static void call_back(void* user, nereid_context*, nereid_run_id, nereid_status status, const char* error) {
    const std::unique_ptr<Call> call(static_cast<Call*>(user));
    call->done(*call->context, status == NEREID_OK ? Status() : Status(status, error));
  }
  explicit Context(std::unique_ptr<State> state) : state_(std::move(state)) {}

  std::unique_ptr<State> state_;
};

// A network that can run. Must outlive its contexts' calls by name; its weights live as long as the last context.
class Engine {
 public:
  static Result<Engine> open(const std::string& path, const OpenOptions& options = {}) {
    return open_with(options, [&](const nereid_open_options* c, nereid_engine** engine) {
      return nereid_engine_open(path.c_str(), c, engine);
    });
  }
  static Result<Engine> open(const void* bytes, std::size_t size, const OpenOptions& options = {}) {
    return open_with(options, [&](const nereid_open_options* c, nereid_engine** engine) {
      return nereid_engine_open_from_memory(bytes, size, nullptr, c, engine);
    });
  }

  std::vector<ValueInfo> inputs() const { return infos(&nereid_engine_input_count, &nereid_engine_input); }
  std::vector<ValueInfo> outputs() const { return infos(&nereid_engine_output_count, &nereid_engine_output); }
  // `threads` 0: the team that the engine's contexts share.
  Result<Context> context(int threads = 0, int queue_depth = 0) {
    nereid_context_options options = NEREID_CONTEXT_OPTIONS_INIT;
    options.threads = threads;
    options.queue_depth = queue_depth;
    auto state = std::make_unique<Context::State>();
    state->engine = handle_.get();
    const nereid_status made = nereid_context_create(handle_.get(), &options, &state->context);
    if (made != NEREID_OK) return Status::of(made);
    return Context(std::move(state));
  }
  nereid_engine* get() noexcept { return handle_.get(); }

 private:
  struct Close {
    void operator()(nereid_engine* engine) const { nereid_engine_close(&engine); }
  };
  explicit Engine(nereid_engine* handle) : handle_(handle) {}

  template <typename Open>
  static Result<Engine> open_with(const OpenOptions& options, Open&& open) {
    const auto shapes = detail::c_shapes(options.shapes);
    nereid_open_options c = NEREID_OPEN_OPTIONS_INIT;
    c.device = options.device.c_str();
    c.precision = options.precision.c_str();
    c.threads = options.threads;
    c.shapes = shapes.data();
    c.shape_count = shapes.size();
    if (options.warn) {
      c.log_user = const_cast<OpenOptions*>(&options);
      c.log = [](void* user, nereid_log_level, const char* text) { static_cast<const OpenOptions*>(user)->warn(text); };
    }
    nereid_engine* engine = nullptr;
    const nereid_status opened = open(&c, &engine);
    if (opened != NEREID_OK) return Status::of(opened);
    return Engine(engine);
  }
  template <typename Count, typename Get>
  std::vector<ValueInfo> infos(Count count, Get read) const {
    std::vector<ValueInfo> out;
    for (std::size_t i = 0; i < count(handle_.get()); ++i) {
      nereid_value_info info{};
      if (read(handle_.get(), i, &info) == NEREID_OK) out.push_back(detail::value_info(info));
    }
    return out;
  }

  std::unique_ptr<nereid_engine, Close> handle_;
};

}  // namespace v1
}  // namespace nereid

#endif  // NEREID_NEREID_HPP
