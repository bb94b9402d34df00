// Plain numbers, one per block.
//   F32                copied, NaN payloads included
//   F16                widened exactly
//   BF16               the upper half of an f32
//   F64, I8 ... U64    converted to f32, rounded to nearest, ties to even
//   BOOL               a byte: 0 is 0, every other one 1
#include "base/half.h"
#include "quant/decode.h"

namespace headrace::quant {

namespace {

template <class T>
void convert(std::span<const std::byte> in, std::span<float> out) {
  for (size_t i = 0; i < out.size(); ++i) out[i] = static_cast<float>(load_block<T>(in, i));
}

}  // namespace

void f32_scalar(std::span<const std::byte> in, std::span<float> out) {
  if (!out.empty()) std::memcpy(out.data(), in.data(), in.size());
}

void f16_scalar(std::span<const std::byte> in, std::span<float> out) {
  for (size_t i = 0; i < out.size(); ++i) out[i] = f16_to_f32(load_block<uint16_t>(in, i));
}

void bf16_scalar(std::span<const std::byte> in, std::span<float> out) {
  for (size_t i = 0; i < out.size(); ++i) out[i] = bf16_to_f32(load_block<uint16_t>(in, i));
}

void f64_scalar(std::span<const std::byte> in, std::span<float> out) { convert<double>(in, out); }
void i8_scalar(std::span<const std::byte> in, std::span<float> out) { convert<int8_t>(in, out); }
void i16_scalar(std::span<const std::byte> in, std::span<float> out) { convert<int16_t>(in, out); }
void i32_scalar(std::span<const std::byte> in, std::span<float> out) { convert<int32_t>(in, out); }
void i64_scalar(std::span<const std::byte> in, std::span<float> out) { convert<int64_t>(in, out); }
void u8_scalar(std::span<const std::byte> in, std::span<float> out) { convert<uint8_t>(in, out); }
void u16_scalar(std::span<const std::byte> in, std::span<float> out) { convert<uint16_t>(in, out); }
void u32_scalar(std::span<const std::byte> in, std::span<float> out) { convert<uint32_t>(in, out); }
void u64_scalar(std::span<const std::byte> in, std::span<float> out) { convert<uint64_t>(in, out); }

void bool_scalar(std::span<const std::byte> in, std::span<float> out) {
  for (size_t i = 0; i < out.size(); ++i) out[i] = in[i] == std::byte{0} ? 0.0F : 1.0F;
}

}  // namespace headrace::quant
