// SPDX-License-Identifier: Apache-2.0
// JPEG 2000 by OpenJPEG: files (JP2) and bare code streams, gray or RGB.
#include <openjpeg.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "image/codecs.h"

namespace nereid::image {
namespace {

struct Source {
  Bytes file;
  size_t at = 0;
};

OPJ_SIZE_T read(void* buffer, OPJ_SIZE_T size, void* user) {
  auto* source = static_cast<Source*>(user);
  const size_t n = std::min<size_t>(size, source->file.size() - source->at);
  if (n == 0) return static_cast<OPJ_SIZE_T>(-1);
  std::memcpy(buffer, source->file.data() + source->at, n);
  source->at += n;
  return n;
}

OPJ_OFF_T skip(OPJ_OFF_T size, void* user) {
  auto* source = static_cast<Source*>(user);
  if (size < 0 || static_cast<size_t>(size) > source->file.size() - source->at) return -1;
  source->at += static_cast<size_t>(size);
  return size;
}

OPJ_BOOL seek(OPJ_OFF_T at, void* user) {
  auto* source = static_cast<Source*>(user);
  if (at < 0 || static_cast<size_t>(at) > source->file.size()) return OPJ_FALSE;
  source->at = static_cast<size_t>(at);
  return OPJ_TRUE;
}

void be_silent(const char*, void*) {}

// A component's value at a pixel as 8 bits.
uint8_t value(const opj_image_comp_t& c, size_t x, size_t y) {
  const size_t column = std::min<size_t>(x / c.dx, c.w - 1), row = std::min<size_t>(y / c.dy, c.h - 1);
  int64_t v = c.data[row * c.w + column];
  if (c.sgnd != 0) v += int64_t{1} << (c.prec - 1);
  const int64_t most = (int64_t{1} << c.prec) - 1;
  v = std::clamp<int64_t>(v, 0, most);
  return static_cast<uint8_t>(c.prec > 8 ? v >> (c.prec - 8) : v * 255 / most);
}

}  // namespace

Result<Image> decode_jpeg2000(Bytes file) {
  Source source{.file = file};
  const std::unique_ptr<opj_codec_t, void (*)(opj_codec_t*)> codec(
      opj_create_decompress(file[0] == 0xff ? OPJ_CODEC_J2K : OPJ_CODEC_JP2), opj_destroy_codec);
  const std::unique_ptr<opj_stream_t, void (*)(opj_stream_t*)> stream(opj_stream_default_create(OPJ_TRUE),
                                                                      opj_stream_destroy);
  if (codec == nullptr || stream == nullptr) return exhausted("there is no memory to decode with");
  opj_set_error_handler(codec.get(), be_silent, nullptr);
  opj_set_warning_handler(codec.get(), be_silent, nullptr);
  opj_set_info_handler(codec.get(), be_silent, nullptr);
  opj_stream_set_user_data(stream.get(), &source, nullptr);
  opj_stream_set_user_data_length(stream.get(), file.size());
  opj_stream_set_read_function(stream.get(), read);
  opj_stream_set_skip_function(stream.get(), skip);
  opj_stream_set_seek_function(stream.get(), seek);
  opj_dparameters_t parameters;
  opj_set_default_decoder_parameters(&parameters);
  opj_image_t* raw = nullptr;
  const bool begun =
      opj_setup_decoder(codec.get(), &parameters) != 0 && opj_read_header(stream.get(), codec.get(), &raw) != 0;
  const std::unique_ptr<opj_image_t, void (*)(opj_image_t*)> decoded(raw, opj_image_destroy);
  if (!begun || decoded == nullptr || decoded->x1 <= decoded->x0 || decoded->y1 <= decoded->y0)
    return damaged("JPEG 2000", "its header is none");
  NEREID_TRY(Image image, blank(decoded->x1 - decoded->x0, decoded->y1 - decoded->y0));
  if (opj_decode(codec.get(), stream.get(), decoded.get()) == 0 || decoded->numcomps == 0)
    return damaged("JPEG 2000", "its pixels cannot be decoded");
  if (decoded->color_space == OPJ_CLRSPC_SYCC || decoded->color_space == OPJ_CLRSPC_CMYK)
    return unsupported("JPEG 2000 images of colour space {} are not read", static_cast<int>(decoded->color_space));
  for (size_t c = 0; c < std::min<size_t>(decoded->numcomps, 3); ++c) {
    const opj_image_comp_t& comp = decoded->comps[c];
    if (comp.data == nullptr || comp.w == 0 || comp.h == 0 || comp.dx == 0 || comp.dy == 0 || comp.prec < 1 ||
        comp.prec > 31)
      return damaged("JPEG 2000", "a component has no pixels");
  }
  const bool rgb = decoded->numcomps >= 3;
  for (size_t y = 0; y < static_cast<size_t>(image.height); ++y)
    for (size_t x = 0; x < static_cast<size_t>(image.width); ++x)
      for (size_t c = 0; c < 3; ++c)
        image.rgb[3 * (y * static_cast<size_t>(image.width) + x) + c] = value(decoded->comps[rgb ? c : 0], x, y);
  return image;
}

}  // namespace nereid::image
