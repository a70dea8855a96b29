// SPDX-License-Identifier: Apache-2.0
// JPEG by libjpeg(-turbo).
#include <cstdio>
// jpeglib.h needs what cstdio declares.
#include <jpeglib.h>

#include <csetjmp>
#include <string>

#include "image/codecs.h"

namespace nereid::image {
namespace {

// The library reports errors by a function that must not return.
struct Escape {
  jpeg_error_mgr manager;
  std::jmp_buf where;
  char message[JMSG_LENGTH_MAX];
};

void leave(j_common_ptr info) {
  auto* escape = reinterpret_cast<Escape*>(info->err);
  info->err->format_message(info, escape->message);
  std::longjmp(escape->where, 1);
}

void be_silent(j_common_ptr, int) {}

// Nothing with a destructor lives in here between setjmp and longjmp. False: escape->message says why.
bool decode_rows(jpeg_decompress_struct* info, Escape* escape, Bytes file, Image* image, Status* refusal) {
  if (setjmp(escape->where) != 0) return false;
  jpeg_create_decompress(info);
  jpeg_mem_src(info, file.data(), static_cast<unsigned long>(file.size()));
  jpeg_read_header(info, TRUE);
  if (info->jpeg_color_space == JCS_CMYK || info->jpeg_color_space == JCS_YCCK) {
    *refusal = unsupported("JPEG images in CMYK are not read");
    return true;
  }
  info->out_color_space = JCS_RGB;
  *refusal = [&] {
    NEREID_TRY(*image, blank(info->image_width, info->image_height));
    return Status::ok();
  }();
  if (!refusal->is_ok()) return true;
  jpeg_start_decompress(info);
  while (info->output_scanline < info->output_height) {
    JSAMPROW row = &image->rgb[size_t{3} * info->output_scanline * info->output_width];
    jpeg_read_scanlines(info, &row, 1);
  }
  jpeg_finish_decompress(info);
  return true;
}

}  // namespace

Result<Image> decode_jpeg(Bytes file) {
  jpeg_decompress_struct info = {};
  Escape escape = {};
  info.err = jpeg_std_error(&escape.manager);
  escape.manager.error_exit = leave;
  escape.manager.emit_message = be_silent;
  Image image;
  Status refusal;
  const bool done = decode_rows(&info, &escape, file, &image, &refusal);
  jpeg_destroy_decompress(&info);
  if (!done) return damaged("JPEG", escape.message);
  NEREID_RETURN_IF_ERROR(refusal);
  return image;
}

}  // namespace nereid::image
