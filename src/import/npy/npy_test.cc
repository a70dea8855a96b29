// SPDX-License-Identifier: Apache-2.0
#include "import/npy/npy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "base/mapped_file.h"

namespace nereid::import::npy {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::string kData = std::string(NEREID_SOURCE_DIR) + "/tests/data/npy/";

std::string npy(std::string_view header, std::string_view data, int version = 1) {
  std::string file = "\x93NUMPY";
  file.push_back(static_cast<char>(version));
  file.push_back('\0');
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i) file.push_back(static_cast<char>(header.size() >> 8 * i & 0xff));
  return file.append(header).append(data);
}

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

std::string refusal(const std::string& file) {
  const auto result = parse_npy(bytes_of(file));
  EXPECT_FALSE(result.is_ok());
  return result.is_ok() ? "" : result.status().message();
}

std::string zip_refusal(const std::string& file) {
  const auto result = parse_npz(bytes_of(file));
  EXPECT_FALSE(result.is_ok());
  return result.is_ok() ? "" : result.status().message();
}

std::string file_text(const std::string& name) {
  return std::string(MappedFile::open(kData + name).value().text());
}

constexpr const char* kPlain = "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3), }";

TEST(Npy, every_type_that_numpy_wrote_reads) {
  // tests/data/npy/make.py wrote the numbers 0 to 5 (bool: odd ones) as (2, 3) in every type, order and byte order.
  for (const char* type : {"b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8"}) {
    for (const char* form : {"", "_fortran", "_big"}) {
      const auto tensor = read_npy(kData + type + form + ".npy");
      ASSERT_TRUE(tensor.is_ok()) << tensor.status().message();
      EXPECT_THAT(tensor->sizes, ElementsAre(2, 3));
      if (tensor->dtype == DType::boolean)
        EXPECT_EQ(std::memcmp(tensor->bytes.data(), "\0\1\0\1\0\1", 6), 0) << type << form;
      else
        EXPECT_THAT(tensor->numbers(), ElementsAre(0, 1, 2, 3, 4, 5)) << type << form;
    }
  }
}

TEST(Npy, complex_numbers_read) {
  for (const char* form : {"", "_fortran", "_big"}) {
    const auto c64 = read_npy(kData + "c8" + form + ".npy").value();
    EXPECT_EQ(c64.dtype, DType::c64);
    EXPECT_THAT(c64.view().span<const float>().subspan(0, 0), ElementsAre());
    float parts[12];
    std::memcpy(parts, c64.bytes.data(), sizeof(parts));
    EXPECT_THAT(parts, ElementsAre(0, 0, 1, -1, 2, -2, 3, -3, 4, -4, 5, -5));
    const auto c128 = read_npy(kData + "c16" + form + ".npy").value();
    EXPECT_EQ(c128.dtype, DType::c128);
    double wide[12];
    std::memcpy(wide, c128.bytes.data(), sizeof(wide));
    EXPECT_THAT(wide, ElementsAre(0, 0, 1, -1, 2, -2, 3, -3, 4, -4, 5, -5));
  }
}

TEST(Npy, headers_are_those_that_numpy_writes) {
  for (const char* name : {"f4", "b1", "c16", "i8", "scalar", "vector", "empty", "cube_columns_as_rows"}) {
    const std::string file = file_text(std::string(name) + ".npy");
    const auto tensor = parse_npy(bytes_of(file)).value();
    std::string again = npy_header(tensor.dtype, tensor.sizes);
    again.append(reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size());
    EXPECT_EQ(again, file) << name;
  }
}

TEST(Npy, columns_first_of_three_dimensions) {
  const auto rows = read_npy(kData + "cube_columns_as_rows.npy").value();
  const auto columns = read_npy(kData + "cube_columns.npy").value();
  EXPECT_THAT(rows.sizes, ElementsAre(2, 3, 4));
  EXPECT_EQ(rows.sizes, columns.sizes);
  EXPECT_EQ(rows.bytes, columns.bytes);
}

TEST(Npy, versions_two_and_three_have_longer_headers) {
  for (const int version : {2, 3}) {
    const auto tensor = parse_npy(bytes_of(npy(kPlain, "abcdef", version)));
    ASSERT_TRUE(tensor.is_ok()) << tensor.status().message();
    EXPECT_EQ(tensor->bytes.size(), 6U);
  }
}

TEST(Npy, what_python_two_wrote_reads) {
  const auto tensor =
      parse_npy(bytes_of(npy("{\"shape\":(2L,3L),'fortran_order':False,'descr':'u1'}  \n", "abcdef"))).value();
  EXPECT_THAT(tensor.sizes, ElementsAre(2, 3));
}

TEST(Npy, any_byte_that_is_not_zero_is_true) {
  const auto tensor =
      parse_npy(bytes_of(npy("{'descr':'|b1','fortran_order':False,'shape':(3,)}", "\x01\x80 "))).value();
  EXPECT_EQ(std::memcmp(tensor.bytes.data(), "\1\1\1", 3), 0);
}

TEST(Npy, refusals) {
  EXPECT_THAT(refusal(""), HasSubstr("is no .npy file"));
  EXPECT_THAT(refusal("PK\3\4 and more"), HasSubstr("is no .npy file"));
  EXPECT_THAT(refusal("\x93NUMPY\1"), HasSubstr("within its first 10 bytes"));
  EXPECT_THAT(refusal(npy(kPlain, "abcdef", 4)), HasSubstr("version 4"));
  EXPECT_THAT(refusal(npy(kPlain, "abcde")), HasSubstr("needs 6 bytes, but 5 follow"));
  EXPECT_THAT(refusal(npy(kPlain, "abcdefg")), HasSubstr("needs 6 bytes, but 7 follow"));
  EXPECT_THAT(refusal(npy(kPlain, "").substr(0, 40)), HasSubstr("only 30 follow"));
  EXPECT_THAT(refusal(npy("", "")), HasSubstr("its end where '{' is expected"));
  EXPECT_THAT(refusal(npy("{'descr': '<f4', 'fortran_order': False}", "")), HasSubstr("lacks 'shape'"));
  EXPECT_THAT(refusal(npy("{'descr': '<f4', 'descr': '<f4'}", "")), HasSubstr("the key 'descr'"));
  EXPECT_THAT(refusal(npy("{'fortran_order': 1}", "")), HasSubstr("True or False"));
  EXPECT_THAT(refusal(npy("{'shape': (-1,)}", "")), HasSubstr("where a size"));
  EXPECT_THAT(refusal(npy("{'shape': (9223372036854775808,)}", "")), HasSubstr("where a size"));
  EXPECT_THAT(refusal(npy("{'shape': (1 2)}", "")), HasSubstr("where ')' is expected"));
  EXPECT_THAT(refusal(npy("{'descr': 'f4", "")), HasSubstr("a quoted text"));
  EXPECT_THAT(refusal(npy(std::string(kPlain) + " more", "")), HasSubstr("'more' after its end"));
  std::string deep = "{'descr': '|u1', 'fortran_order': True, 'shape': (";
  for (int i = 0; i < 65; ++i) deep += "1,";
  EXPECT_THAT(refusal(npy(deep + ")}", "a")), HasSubstr("more than 64 dimensions"));
  EXPECT_THAT(refusal(npy("{'descr': '<f8', 'fortran_order': True, 'shape': (4294967296, 4294967296)}", "")),
              HasSubstr("more than 2^63"));
}

TEST(Npy, elements_that_are_not_plain_numbers_are_named) {
  for (const char* descr : {"'|O'", "'<U5'", "'|S3'", "'<V2'", "'<M8[ns]'", "'<f16'", "''"})
    EXPECT_THAT(refusal(npy(fmt::format("{{'descr': {}, }}", descr), "")), HasSubstr("its element type is"));
  EXPECT_THAT(refusal(npy("{'descr': [('a', '<f4')], }", "")), HasSubstr("records"));
}

TEST(Npy, a_file_that_is_not_there_is_not_found) {
  EXPECT_EQ(read_npy(kData + "absent.npy").status().code(), StatusCode::kNotFound);
  EXPECT_FALSE(read_npy(kData).is_ok());
}

TEST(Npz, stored_and_deflated_archives_read) {
  for (const char* name : {"stored.npz", "deflated.npz", "commented.npz"}) {
    const auto arrays = read_npz(kData + name);
    ASSERT_TRUE(arrays.is_ok()) << arrays.status().message();
    ASSERT_EQ(arrays->size(), 2U) << name;
    EXPECT_EQ((*arrays)[0].first, "x");
    EXPECT_THAT((*arrays)[0].second.numbers(), ElementsAre(1, 2, 3));
    EXPECT_EQ((*arrays)[1].first, "folder/y:0");
    EXPECT_THAT((*arrays)[1].second.sizes, ElementsAre(0, 4));
  }
}

TEST(Npz, every_cut_is_refused) {
  for (const char* name : {"stored.npz", "deflated.npz"}) {
    const std::string whole = file_text(name);
    for (size_t size = 0; size < whole.size(); ++size)
      EXPECT_FALSE(parse_npz(bytes_of(whole.substr(0, size))).is_ok()) << name << " " << size;
  }
}

TEST(Npz, a_changed_byte_of_the_data_is_noticed) {
  for (const char* name : {"stored.npz", "deflated.npz"}) {
    std::string whole = file_text(name);
    whole[120] = static_cast<char>(whole[120] ^ 0x41);
    EXPECT_FALSE(parse_npz(bytes_of(whole)).is_ok()) << name;
  }
}

TEST(Npz, refusals) {
  EXPECT_THAT(zip_refusal(""), HasSubstr("no zip directory"));
  EXPECT_THAT(zip_refusal(std::string(100, 'x')), HasSubstr("no zip directory"));
  const std::string whole = file_text("stored.npz");
  const size_t directory = whole.find("PK\1\2"), end = whole.find("PK\5\6");
  ASSERT_NE(directory, std::string::npos);
  const auto changed = [&](size_t at, std::initializer_list<int> values) {
    std::string file = whole;
    for (const int v : values) file[at++] = static_cast<char>(v);
    return zip_refusal(file);
  };
  EXPECT_THAT(changed(directory + 8, {1}), HasSubstr("encrypted"));
  EXPECT_THAT(changed(directory + 10, {14}), HasSubstr("compression method is 14"));
  EXPECT_THAT(changed(directory + 16, {0, 0, 0, 0}), HasSubstr("checksum"));
  EXPECT_THAT(changed(directory + 24, {1}), HasSubstr("its two sizes"));
  EXPECT_THAT(changed(directory + 20, {0xf0, 0xff, 0xff, 0x7f}), HasSubstr("entries overlap"));
  EXPECT_THAT(changed(directory + 42, {0xf0, 0xff}), HasSubstr("not where the directory says"));
  EXPECT_THAT(changed(directory, {'X'}), HasSubstr("directory is damaged"));
  EXPECT_THAT(changed(end + 10, {0xff, 0xff}), HasSubstr("65535 entries"));
  EXPECT_THAT(changed(end + 16, {0xff, 0xff, 0xff}), HasSubstr("directory is damaged"));
  std::string text = whole;
  text.replace(text.find("x.npy", directory), 5, "x.txt");
  EXPECT_THAT(zip_refusal(text), HasSubstr("which is no .npy file"));
}

TEST(Npz, a_bomb_is_refused_before_anything_is_allocated) {
  std::string file = file_text("deflated.npz");
  const size_t directory = file.find("PK\1\2");
  for (int i = 0; i < 4; ++i) file[directory + 24 + static_cast<size_t>(i)] = static_cast<char>(i < 3 ? 0xff : 0xef);
  EXPECT_THAT(zip_refusal(file), HasSubstr("which deflate cannot do"));
}

}  // namespace
}  // namespace nereid::import::npy
