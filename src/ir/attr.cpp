#include "ir/attr.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>

#include "base/checked.h"
#include "base/narrow.h"

namespace headrace {

namespace {

template <class T>
void store(std::byte* to, T value) {
  std::memcpy(to, &value, sizeof value);
}

template <class T>
T load(const std::byte* from) {
  T value{};
  std::memcpy(&value, from, sizeof value);
  return value;
}

void store_float(DType dtype, double value, std::byte* to) {
  if (dtype == DType::kF16) return store(to, f64_to_f16(value));
  if (dtype == DType::kBF16) return store(to, f64_to_bf16(value));
  if (dtype == DType::kF32) return store(to, static_cast<float>(value));
  store(to, value);
}

void store_int(DType dtype, int64_t value, std::byte* to) {
  HR_CHECK(in_range(dtype, value));
  std::memcpy(to, &value, static_cast<size_t>(storage_bytes(dtype)));  // little-endian: the low bytes
}

Literal uniform(DType dtype, std::vector<int64_t> sizes, const std::vector<std::byte>& element) {
  const auto count = checked_product(sizes);
  HR_CHECK(count.has_value());
  const bool empty = *count == 0;
  auto bytes = std::make_shared<const std::vector<std::byte>>(empty ? std::vector<std::byte>() : element);
  return {.dtype = dtype, .sizes = std::move(sizes), .splat = !empty, .bytes = std::move(bytes)};
}

size_t mix(size_t seed, size_t value) { return seed ^ (value + 0x9E3779B97F4A7C15U + (seed << 6) + (seed >> 2)); }

size_t hash_of(int64_t value) { return std::hash<int64_t>()(value); }
size_t hash_of(double value) { return std::hash<uint64_t>()(std::bit_cast<uint64_t>(value)); }
size_t hash_of(const std::string& value) { return std::hash<std::string>()(value); }
size_t hash_of(DType value) { return static_cast<size_t>(value); }

size_t hash_of(const Dim& dim) {
  size_t seed = hash_of(dim.constant());
  for (const auto& [symbol, coefficient] : dim.terms()) seed = mix(mix(seed, hash_of(symbol)), hash_of(coefficient));
  return seed;
}

template <class T>
size_t hash_of(const std::vector<T>& values);

size_t hash_of(const Type& type) { return mix(hash_of(type.dtype), hash_of(type.shape)); }

size_t hash_of(const Literal& value) {
  const std::string_view bytes(reinterpret_cast<const char*>(value.bytes->data()), value.bytes->size());
  return mix(mix(hash_of(value.dtype), hash_of(value.sizes)), std::hash<std::string_view>()(bytes));
}

template <class T>
size_t hash_of(const std::vector<T>& values) {
  size_t seed = values.size();
  for (const T& value : values) seed = mix(seed, hash_of(value));
  return seed;
}

}  // namespace

bool in_range(DType dtype, int64_t value) {
  const int bits = info(dtype).bits;
  if (bits == 64) return true;
  const bool is_signed = info(dtype).kind == DTypeKind::kInt;
  const int64_t low = is_signed ? -(int64_t{1} << (bits - 1)) : 0;
  const int64_t high = (int64_t{1} << (is_signed ? bits - 1 : bits)) - 1;
  return low <= value && value <= high;
}

Literal Literal::filled(DType dtype, std::vector<int64_t> sizes, double value) {
  std::vector<std::byte> element(static_cast<size_t>(storage_bytes(dtype)));
  if (is_float(dtype)) {
    store_float(dtype, value, element.data());
  } else {
    HR_CHECK(std::trunc(value) == value && value >= -0x1p63 && value < 0x1p63);
    store_int(dtype, static_cast<int64_t>(value), element.data());
  }
  return uniform(dtype, std::move(sizes), element);
}

Literal Literal::of_ints(DType dtype, std::vector<int64_t> sizes, const std::vector<int64_t>& values) {
  HR_CHECK(!is_float(dtype));
  const auto count = checked_product(sizes);
  HR_CHECK(count.has_value() && static_cast<size_t>(*count) == values.size());
  const auto width = static_cast<size_t>(storage_bytes(dtype));
  std::vector<std::byte> bytes(values.size() * width);
  for (size_t i = 0; i < values.size(); ++i) store_int(dtype, values[i], bytes.data() + i * width);
  // Equal elements are a splat, so that equal constants are equal values however they were made.
  if (!values.empty() && std::all_of(values.begin(), values.end(), [&](int64_t v) { return v == values.front(); })) {
    bytes.resize(width);
    return uniform(dtype, std::move(sizes), bytes);
  }
  return {.dtype = dtype,
          .sizes = std::move(sizes),
          .splat = false,
          .bytes = std::make_shared<const std::vector<std::byte>>(std::move(bytes))};
}

double Literal::at(size_t i) const {
  const std::byte* from = bytes->data() + (splat ? 0 : i) * static_cast<size_t>(storage_bytes(dtype));
  if (dtype == DType::kF16) return static_cast<double>(f16_to_f32(load<uint16_t>(from)));
  if (dtype == DType::kBF16) return static_cast<double>(bf16_to_f32(load<uint16_t>(from)));
  if (dtype == DType::kF32) return static_cast<double>(load<float>(from));
  if (dtype == DType::kF64) return load<double>(from);
  if (dtype == DType::kU64) return static_cast<double>(load<uint64_t>(from));
  return static_cast<double>(int_at(i));
}

int64_t Literal::int_at(size_t i) const {
  HR_CHECK(!is_float(dtype));
  const auto width = static_cast<size_t>(storage_bytes(dtype));
  uint64_t bits = 0;
  std::memcpy(&bits, bytes->data() + (splat ? 0 : i) * width, width);
  if (info(dtype).kind != DTypeKind::kInt) return static_cast<int64_t>(bits);
  const int unused = 64 - info(dtype).bits;
  return static_cast<int64_t>(bits << unused) >> unused;
}

bool same(const Attr& a, const Attr& b) {
  if (a.index() != b.index()) return false;
  if (const auto* x = std::get_if<double>(&a))
    return std::bit_cast<uint64_t>(*x) == std::bit_cast<uint64_t>(std::get<double>(b));
  return a == b;
}

size_t hash(const Attr& attr) {
  return mix(attr.index(), std::visit([](const auto& value) { return hash_of(value); }, attr));
}

}  // namespace headrace
