// SPDX-License-Identifier: Apache-2.0
// PNM: portable bit, gray and pixel maps, as text (P1, P2, P3) and as bytes (P4, P5, P6).
#include "image/codecs.h"

namespace nereid::image {
namespace {

class Reader {
 public:
  explicit Reader(Bytes file) : file_(file) {}

  // The next number in text, past spaces and comments; -1 if there is none.
  int64_t number() {
    skip();
    int64_t value = -1;
    for (; at_ < file_.size() && file_[at_] >= '0' && file_[at_] <= '9'; ++at_) {
      value = (value < 0 ? 0 : value * 10) + (file_[at_] - '0');
      if (value > kMostPixels) return -1;
    }
    return value;
  }
  // The next digit alone: P1 needs no spaces between its pixels.
  int64_t digit() {
    skip();
    return at_ < file_.size() && (file_[at_] == '0' || file_[at_] == '1') ? file_[at_++] - '0' : -1;
  }
  // What follows one space after the header.
  Bytes rest() const { return at_ < file_.size() ? file_.subspan(at_ + 1) : Bytes(); }
  void past_magic() { at_ = 2; }

 private:
  void skip() {
    for (bool comment = false; at_ < file_.size(); ++at_) {
      const uint8_t c = file_[at_];
      if (comment) {
        comment = c != '\n' && c != '\r';
      } else if (c == '#') {
        comment = true;
      } else if (c != ' ' && (c < '\t' || c > '\r')) {
        return;
      }
    }
  }
  Bytes file_;
  size_t at_ = 0;
};

uint8_t scaled(int64_t value, int64_t most) {
  return static_cast<uint8_t>((value * 255 + most / 2) / most);
}

}  // namespace

Result<Image> decode_pnm(Bytes file) {
  Reader reader(file);
  reader.past_magic();
  const char kind = static_cast<char>(file[1]);
  const bool bits = kind == '1' || kind == '4', text = kind <= '3';
  const int64_t width = reader.number(), height = reader.number(), most = bits ? 1 : reader.number();
  NEREID_TRY(Image image, blank(width, height));
  if (most < 1 || most > 65535) return damaged("PNM", "its largest value is not between 1 and 65535");
  const size_t channels = kind == '3' || kind == '6' ? 3 : 1, pixels = image.rgb.size() / 3;
  const size_t columns = static_cast<size_t>(width), row_bytes = (columns + 7) / 8, bytes = most > 255 ? 2 : 1;
  const Bytes data = text ? Bytes() : reader.rest();
  const size_t wanted = bits ? row_bytes * static_cast<size_t>(height) : pixels * channels * bytes;
  if (!text && data.size() < wanted) return damaged("PNM", "it ends before its last pixel");
  for (size_t i = 0; i < pixels; ++i) {
    for (size_t c = 0; c < channels; ++c) {
      const size_t k = i * channels + c;
      int64_t value = 0;
      if (text) {
        value = bits ? reader.digit() : reader.number();
      } else if (bits) {
        value = data[i / columns * row_bytes + i % columns / 8] >> (7 - i % columns % 8) & 1;
      } else {
        value = bytes == 2 ? big16(data, 2 * k) : data[k];
      }
      if (value < 0 || value > most) return damaged("PNM", "a pixel is missing or above the largest value");
      image.rgb[3 * i + c] = bits ? (value == 0 ? 255 : 0) : scaled(value, most);
    }
    if (channels == 1) image.rgb[3 * i + 1] = image.rgb[3 * i + 2] = image.rgb[3 * i];
  }
  return image;
}

}  // namespace nereid::image
