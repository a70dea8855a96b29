// SPDX-License-Identifier: Apache-2.0
// Shapes: lists of dimensions, each a number, a named symbol ("batch", "tokens") that is bound at run time, or unknown.
// A shape may also be unranked: not even the number of its dimensions is known before it is computed.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace nereid {

// A dimension: a size >= 0, or a symbol with a non-empty name.
class Dim {
 public:
  Dim(int64_t size) : size_(size) {}
  static Dim symbol(std::string name) {
    Dim d(-1);
    d.symbol_ = std::move(name);
    return d;
  }
  // A size that is known only when it has been computed; no two of them are said to be equal.
  static Dim unknown() { return symbol("?"); }
  bool is_unknown() const { return symbol_ == "?"; }
  bool is_static() const { return symbol_.empty(); }
  int64_t size() const { return size_; }  // -1 for a symbol
  const std::string& symbol() const { return symbol_; }
  std::string to_string() const { return is_static() ? std::to_string(size_) : symbol_; }
  bool operator==(const Dim&) const = default;

 private:
  int64_t size_;
  std::string symbol_;
};

class Shape {
 public:
  Shape() = default;
  Shape(std::initializer_list<Dim> dims) : dims_(dims) {}
  explicit Shape(std::vector<Dim> dims) : dims_(std::move(dims)) {}
  static Shape unranked() {
    Shape s;
    s.ranked_ = false;
    return s;
  }
  bool is_ranked() const { return ranked_; }
  static Shape of(std::span<const int64_t> sizes) { return Shape(std::vector<Dim>(sizes.begin(), sizes.end())); }

  int rank() const { return static_cast<int>(dims_.size()); }  // 0 if unranked
  const Dim& operator[](int i) const { return dims_[static_cast<size_t>(i)]; }
  Dim& operator[](int i) { return dims_[static_cast<size_t>(i)]; }
  const std::vector<Dim>& dims() const { return dims_; }
  bool is_static() const;
  // The sizes; only when is_static() (checked).
  std::vector<int64_t> sizes() const;
  // Product of the dimensions (1 for rank 0); nothing if symbolic, negative or over 63 bits.
  std::optional<int64_t> elements() const;
  // "[2, tokens, 64]"; "[...]" if unranked
  std::string to_string() const;
  bool operator==(const Shape&) const = default;

 private:
  std::vector<Dim> dims_;
  bool ranked_ = true;
};

// Product of sizes with overflow and sign checks, for sizes that come from files.
std::optional<int64_t> checked_product(std::span<const int64_t> sizes);

}  // namespace nereid
