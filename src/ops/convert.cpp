// Where the specification leaves the result open: a float out of an integer type's range gives the nearest end of the
// range, NaN gives 0 (as XLA does).
#include <cmath>
#include <limits>

#include "ops/def.h"

namespace headrace::ops {

namespace {

constexpr AttrSpec kAttrs[] = {{"dtype", AttrKind::kDType}};

Result<Types> infer(const InferArgs& args) { return Types{{attr<DType>(args.attrs, 0), args.operands[0].shape}}; }

// One rounding from a 64-bit integer to `dtype`: f16 and bf16 go through a double whose last kept bit is sticky.
template <class F>
F float_from_int(DType from, DType to, int64_t value) {
  const bool is_unsigned = from == DType::kU64;
  if (info(to).bits != 16) return is_unsigned ? static_cast<F>(static_cast<uint64_t>(value)) : static_cast<F>(value);
  constexpr int64_t kDropped = (int64_t{1} << 12) - 1;
  const bool exact = !is_unsigned && value >= -(int64_t{1} << 53) && value <= (int64_t{1} << 53);
  if (!exact && (value & kDropped) != 0) value = (value & ~kDropped) | (kDropped + 1);
  const double wide = is_unsigned ? static_cast<double>(static_cast<uint64_t>(value)) : static_cast<double>(value);
  return static_cast<F>(round_to(to, wide));
}

// Saturates; NaN gives 0. u64 is held as the int64_t of the same bits.
int64_t int_from_float(DType to, double value) {
  if (std::isnan(value)) return 0;
  const bool is_signed = info(to).kind == DTypeKind::kInt;
  const int bits = info(to).bits - (is_signed ? 1 : 0);
  const double end = std::ldexp(1.0, bits);  // first value beyond the range
  const double whole = std::trunc(value);
  if (whole >= end) return bits == 64 ? -1 : static_cast<int64_t>((uint64_t{1} << bits) - 1);
  if (!is_signed) return whole <= 0 ? 0 : static_cast<int64_t>(static_cast<uint64_t>(whole));
  if (whole <= -end) return bits == 63 ? std::numeric_limits<int64_t>::min() : -(int64_t{1} << bits);
  return static_cast<int64_t>(whole);
}

template <class To, class From, class Fn>
void map(std::span<To> to, std::span<const From> from, Fn fn) {
  for (size_t i = 0; i < to.size(); ++i) to[i] = fn(from[i]);
}

template <class F>
Result<Tensors<F>> eval(EvalContext<F>& ctx) {
  const HostTensor<F>& x = ctx.operands[0];
  const DType from = x.dtype();
  const DType to = ctx.result_types[0].dtype;
  if (from == to) return one(x);
  HostTensor<F> out = fresh(ctx);
  if (is_float(to) && is_float(from)) {
    map(out.mutable_floats(), x.floats(), [](F v) { return v; });
  } else if (is_float(to)) {
    map(out.mutable_floats(), x.ints(), [&](int64_t v) { return float_from_int<F>(from, to, v); });
  } else if (to == DType::kI1) {
    if (is_float(from)) map(out.mutable_ints(), x.floats(), [](F v) { return int64_t{v != 0}; });
    if (!is_float(from)) map(out.mutable_ints(), x.ints(), [](int64_t v) { return int64_t{v != 0}; });
  } else if (is_float(from)) {
    map(out.mutable_ints(), x.floats(), [&](F v) { return int_from_float(to, static_cast<double>(v)); });
  } else {
    map(out.mutable_ints(), x.ints(), [](int64_t v) { return v; });
  }
  out.settle();
  return one(std::move(out));
}

void write(HloWriter& w) { write_functional(w, ""); }

}  // namespace

constinit const OpDef kConvert = checked({.name = "convert",
                                          .level = OpLevel::kCore,
                                          .summary = "the same values in another element type",
                                          .spec = "stablehlo spec.md#convert",
                                          .operands = 1,
                                          .attrs = kAttrs,
                                          .infer = infer,
                                          .eval_f32 = eval<float>,
                                          .eval_f64 = eval<double>,
                                          .hlo = write});

}  // namespace headrace::ops
