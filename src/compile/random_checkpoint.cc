// SPDX-License-Identifier: Apache-2.0
#include "compile/random_checkpoint.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <vector>

#include "base/atomic_file.h"
#include "base/file.h"
#include "base/float_convert.h"
#include "base/interrupt.h"
#include "base/json.h"
#include "llm/arch/tensor_list.h"

namespace nereid::compile {
namespace {

constexpr size_t kMaxConfig = size_t{1} << 20;
constexpr int64_t kMaxElements = int64_t{1} << 40;
constexpr int64_t kBlock = int64_t{1} << 16;  // elements that are drawn from one state
constexpr int64_t kBlocksATurn = 256;

struct Elements {
  DType dtype;
  std::string_view name;  // in safetensors
  int64_t bytes;
};
Result<Elements> elements_of(const Json& config) {
  const Json* text = config.contains("text_config") ? &config["text_config"] : &config;
  const std::string dtype = text->contains("torch_dtype") && (*text)["torch_dtype"].is_string()
                                ? (*text)["torch_dtype"].get<std::string>()
                                : "float16";
  if (dtype == "float16") return Elements{DType::f16, "F16", 2};
  if (dtype == "bfloat16") return Elements{DType::bf16, "BF16", 2};
  if (dtype == "float32") return Elements{DType::f32, "F32", 4};
  return unsupported("torch_dtype is '{}'; random weights are float16, bfloat16 or float32", dtype);
}

// SplitMix64 (Steele, Lea, Flood 2014): one addition and a mix a number, any state a good start.
uint64_t next(uint64_t* state) {
  uint64_t z = *state += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

// The values of a tensor by 16 random bits: one look-up an element.
class RandomValues {
 public:
  RandomValues(const llm::ListedTensor& t, const Elements& e) : bytes_(e.bytes), table_(size_t{65536} * e.bytes) {
    const bool is_matrix = t.sizes.size() == 2, is_norm = t.name.find("norm") != std::string::npos;
    const double width = is_matrix ? std::sqrt(3.0 / static_cast<double>(t.sizes[1])) : is_norm ? 0.1 : 0.02;
    for (size_t i = 0; i < 65536; ++i) {
      const auto v = static_cast<float>(((static_cast<double>(i) + 0.5) / 32768 - 1) * width + (!is_matrix && is_norm));
      const uint16_t half = e.dtype == DType::f16 ? f32_to_f16(v) : f32_to_bf16(v);
      if (e.bytes == 4)
        std::memcpy(table_.data() + i * 4, &v, 4);
      else
        std::memcpy(table_.data() + i * 2, &half, 2);
    }
  }
  // Elements of the block that `state` begins.
  void fill(uint64_t state, int64_t count, std::byte* dst) const {
    if (bytes_ == 4)
      fill_as<uint32_t>(state, count, dst);
    else
      fill_as<uint16_t>(state, count, dst);
  }

 private:
  template <typename T>
  void fill_as(uint64_t state, int64_t count, std::byte* dst) const {
    const auto* table = reinterpret_cast<const T*>(table_.data());
    auto* out = reinterpret_cast<T*>(dst);
    for (int64_t i = 0; i < count; i += 4) {
      uint64_t bits = next(&state);
      for (int64_t j = i; j < std::min(i + 4, count); ++j, bits >>= 16) out[j] = table[bits & 0xffff];
    }
  }
  int64_t bytes_;
  std::vector<std::byte> table_;
};

int64_t count_of(const llm::ListedTensor& t) {
  int64_t n = 1;
  for (int64_t size : t.sizes) n *= size;
  return n;
}

// The header of safetensors: eight bytes of its length, then JSON padded with blanks to a multiple of 8.
std::string safetensors_header(const std::vector<llm::ListedTensor>& tensors, const Elements& e) {
  Json json = {{"__metadata__", {{"format", "pt"}}}};
  int64_t at = 0;
  for (const llm::ListedTensor& t : tensors) {
    const int64_t end = at + count_of(t) * e.bytes;
    json[t.name] = {{"dtype", e.name}, {"shape", t.sizes}, {"data_offsets", {at, end}}};
    at = end;
  }
  std::string text = json.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');
  const uint64_t length = text.size();
  std::string header(8, '\0');
  std::memcpy(header.data(), &length, 8);
  return header + text;
}

// The characters by which byte-level BPE writes the 256 bytes (GPT-2's table): printable ones are themselves.
std::string byte_level_tokenizer() {
  Json vocab = Json::object();
  int shifted = 256;
  for (int byte = 0; byte < 256; ++byte) {
    const bool is_printable = (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
    const int code = is_printable ? byte : shifted++;
    std::string character;
    if (code < 128) {
      character += static_cast<char>(code);
    } else {
      character += static_cast<char>(0xc0 | code >> 6);
      character += static_cast<char>(0x80 | (code & 63));
    }
    vocab[character] = byte;
  }
  const Json byte_level = {
      {"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}, {"use_regex", true}};
  return Json{{"version", "1.0"},
              {"added_tokens", Json::array()},
              {"normalizer", nullptr},
              {"pre_tokenizer", byte_level},
              {"post_processor", nullptr},
              {"decoder", byte_level},
              {"model",
               {{"type", "BPE"},
                {"dropout", nullptr},
                {"unk_token", nullptr},
                {"fuse_unk", false},
                {"byte_fallback", false},
                {"vocab", vocab},
                {"merges", Json::array()}}}}
      .dump();
}

Status write_text(const std::string& path, std::string_view text) {
  NEREID_TRY(AtomicFile file, AtomicFile::create(path));
  NEREID_RETURN_IF_ERROR(file.write(text));
  return file.commit();
}

}  // namespace

Status write_random_checkpoint(const RandomCheckpoint& what, ThreadPool& pool,
                               const std::function<void(int64_t, int64_t)>& progress) {
  NEREID_TRY(const std::string text, read_file(what.config_path, kMaxConfig));
  NEREID_TRY(const Json config, parse_json(text).with(what.config_path));
  if (!config.is_object()) return invalid_argument("'{}' holds no JSON object", what.config_path);
  NEREID_TRY(const Elements elements, elements_of(config).with(what.config_path));
  llm::ArchInput input;
  input.hf = &config;
  const Json* names = config.contains("architectures") ? &config["architectures"] : nullptr;
  if (names != nullptr && names->is_array() && !names->empty() && (*names)[0].is_string())
    input.architecture = (*names)[0].get_ref<const std::string&>();
  else if (config.contains("model_type") && config["model_type"].is_string())
    input.architecture = config["model_type"].get_ref<const std::string&>();
  input.tensor = [](std::string_view) { return nullptr; };
  NEREID_TRY(const llm::TensorList list, llm::list_tensors(input).with(what.config_path));
  int64_t total = 0;
  for (const llm::ListedTensor& t : list.tensors) {
    double n = 1;
    for (int64_t size : t.sizes) n *= static_cast<double>(size);
    if (n > static_cast<double>(kMaxElements)) return invalid_argument("the tensor {} has {} elements", t.name, n);
    total += count_of(t) * elements.bytes;
  }

  std::error_code e;
  std::filesystem::create_directories(what.folder, e);
  if (e) return invalid_argument("the folder '{}' cannot be made: {}", what.folder, e.message());
  NEREID_TRY(AtomicFile file, AtomicFile::create(what.folder + "/model.safetensors"));
  NEREID_RETURN_IF_ERROR(file.write(safetensors_header(list.tensors, elements)));
  std::vector<std::byte> buffer(static_cast<size_t>(kBlocksATurn * kBlock * elements.bytes));
  int64_t done = 0;
  for (size_t i = 0; i < list.tensors.size(); ++i) {
    const llm::ListedTensor& t = list.tensors[i];
    const RandomValues values(t, elements);
    const int64_t count = count_of(t), blocks = (count + kBlock - 1) / kBlock;
    for (int64_t first = 0; first < blocks; first += kBlocksATurn) {
      if (interrupted()) return cancelled("stopped while the weights were written; nothing is left of them");
      const int64_t turn = std::min(kBlocksATurn, blocks - first);
      pool.run([&](Worker& w) {
        const auto [begin, end] = w.slice(turn);
        for (int64_t b = begin; b < end; ++b) {
          const int64_t at = (first + b) * kBlock;
          uint64_t state = what.seed ^ (static_cast<uint64_t>(i) << 40) ^ static_cast<uint64_t>(first + b);
          state = next(&state);
          values.fill(state, std::min(kBlock, count - at), buffer.data() + b * kBlock * elements.bytes);
        }
      });
      const int64_t bytes = (std::min(count, (first + turn) * kBlock) - first * kBlock) * elements.bytes;
      NEREID_RETURN_IF_ERROR(file.write(std::span(buffer.data(), static_cast<size_t>(bytes))));
      done += bytes;
      if (progress) progress(done, total);
    }
  }
  NEREID_RETURN_IF_ERROR(file.commit());
  NEREID_RETURN_IF_ERROR(write_text(what.folder + "/tokenizer.json", byte_level_tokenizer()));
  return write_text(what.folder + "/config.json", text);
}

}  // namespace nereid::compile
