// Bits are little-endian in memory, as on every engine we target: of narrow elements that make up a wide one, the first
// holds the low bits. An f32 that is computed in double is rounded to f32 first.
#include <bit>

#include "base/narrow.h"
#include "ops/def.h"

namespace headrace::ops {

namespace {

constexpr AttrSpec kAttrs[] = {{"dtype", AttrKind::kDType}};

Result<Types> infer(const InferArgs& args) {
  const Type& x = args.operands[0];
  const DType to = attr<DType>(args.attrs, 0);
  if ((x.dtype == DType::kI1) != (to == DType::kI1))
    return fail(ErrorCode::kInfer, "{} to {}: i1 has no bits in memory to share (bitcast_convert_c1)", to_string(x),
                name(to));
  const int64_t from_bits = info(x.dtype).bits;
  const int64_t to_bits = info(to).bits;
  Type out{to, x.shape};
  if (to_bits < from_bits) out.shape.push_back(from_bits / to_bits);
  if (to_bits > from_bits) {
    if (x.shape.empty() || x.shape.back() != Dim(to_bits / from_bits))
      return fail(ErrorCode::kInfer, "{} to {}: the last dim must be {} (bitcast_convert_c1)", to_string(x), name(to),
                  to_bits / from_bits);
    out.shape.pop_back();
  }
  return Types{out};
}

uint64_t bits_of(DType dtype, double value) {
  if (dtype == DType::kF16) return f64_to_f16(value);
  if (dtype == DType::kBF16) return f64_to_bf16(value);
  if (dtype == DType::kF32) return std::bit_cast<uint32_t>(static_cast<float>(value));
  return std::bit_cast<uint64_t>(value);
}

double float_of(DType dtype, uint64_t bits) {
  if (dtype == DType::kF16) return static_cast<double>(f16_to_f32(static_cast<uint16_t>(bits)));
  if (dtype == DType::kBF16) return static_cast<double>(bf16_to_f32(static_cast<uint16_t>(bits)));
  if (dtype == DType::kF32) return static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  return std::bit_cast<double>(bits);
}

template <class F>
Result<Tensors<F>> eval(EvalContext<F>& ctx) {
  const HostTensor<F>& x = ctx.operands[0];
  HostTensor<F> out = fresh(ctx);
  const DType from = x.dtype();
  const DType to = out.dtype();
  const auto read = [&](size_t i) {
    return is_float(from) ? bits_of(from, static_cast<double>(x.floats()[i])) : static_cast<uint64_t>(x.ints()[i]);
  };
  const auto write = [&](size_t i, uint64_t bits) {
    if (is_float(to)) out.mutable_floats()[i] = static_cast<F>(float_of(to, bits));
    if (!is_float(to)) out.mutable_ints()[i] = wrap_to(to, static_cast<int64_t>(bits));
  };
  const int from_bits = info(from).bits;
  const int to_bits = info(to).bits;
  if (to_bits <= from_bits) {
    const size_t parts = static_cast<size_t>(from_bits / to_bits);
    for (size_t i = 0; i < index(x.elements()); ++i) {
      const uint64_t bits = read(i);
      for (size_t p = 0; p < parts; ++p) write(i * parts + p, bits >> (p * static_cast<size_t>(to_bits)));
    }
  } else {
    const size_t parts = static_cast<size_t>(to_bits / from_bits);
    const uint64_t mask = (uint64_t{1} << from_bits) - 1;
    for (size_t i = 0; i < index(out.elements()); ++i) {
      uint64_t bits = 0;
      for (size_t p = 0; p < parts; ++p) bits |= (read(i * parts + p) & mask) << (p * static_cast<size_t>(from_bits));
      write(i, bits);
    }
  }
  return one(std::move(out));
}

void write(HloWriter& w) { write_functional(w, ""); }

}  // namespace

constinit const OpDef kBitcastConvert = checked({.name = "bitcast_convert",
                                                 .level = OpLevel::kCore,
                                                 .summary = "the same bits read as another element type",
                                                 .spec = "stablehlo spec.md#bitcast_convert",
                                                 .operands = 1,
                                                 .attrs = kAttrs,
                                                 .infer = infer,
                                                 .eval_f32 = eval<float>,
                                                 .eval_f64 = eval<double>,
                                                 .hlo = write});

}  // namespace headrace::ops
