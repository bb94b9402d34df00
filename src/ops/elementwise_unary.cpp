// Ops of one operand, element by element. A row is a struct: name, summary, allowed kinds, and the value for floats
// and/or integers (integers are wrapped to their type afterwards).
#include <cmath>

#include "ops/def.h"

namespace headrace::ops {

namespace {

struct Abs {
  static constexpr std::string_view kName = "abs", kSummary = "magnitude; that of the least integer is itself";
  static constexpr Kinds kKinds = kSignedNumbers;
  template <class F>
  static F real(F x) {
    return std::fabs(x);
  }
  static int64_t integer(int64_t x) { return x < 0 ? static_cast<int64_t>(-static_cast<uint64_t>(x)) : x; }
};
struct Ceil {
  static constexpr std::string_view kName = "ceil", kSummary = "the least whole number not below";
  static constexpr Kinds kKinds = kFloats;
  template <class F>
  static F real(F x) {
    return std::ceil(x);
  }
};
struct Cosine {
  static constexpr std::string_view kName = "cosine", kSummary = "cosine of radians";
  static constexpr Kinds kKinds = kFloats;
  template <class F>
  static F real(F x) {
    return std::cos(x);
  }
};
struct Exponential {
  static constexpr std::string_view kName = "exponential", kSummary = "e to the power of the operand";
  static constexpr Kinds kKinds = kFloats;
  template <class F>
  static F real(F x) {
    return std::exp(x);
  }
};
struct Floor {
  static constexpr std::string_view kName = "floor", kSummary = "the greatest whole number not above";
  static constexpr Kinds kKinds = kFloats;
  template <class F>
  static F real(F x) {
    return std::floor(x);
  }
};
struct Log {
  static constexpr std::string_view kName = "log", kSummary = "natural logarithm";
  static constexpr Kinds kKinds = kFloats;
  template <class F>
  static F real(F x) {
    return std::log(x);
  }
};
struct Logistic {
  static constexpr std::string_view kName = "logistic", kSummary = "1 / (1 + exp(-x))";
  static constexpr Kinds kKinds = kFloats;
  // The form for negative x keeps its precision where exp(-x) overflows.
  template <class F>
  static F real(F x) {
    const F e = std::exp(-std::fabs(x));
    return x < 0 ? e / (F(1) + e) : F(1) / (F(1) + e);
  }
};
struct Negate {
  static constexpr std::string_view kName = "negate", kSummary = "the operand with the other sign";
  static constexpr Kinds kKinds = kNumbers;
  template <class F>
  static F real(F x) {
    return -x;
  }
  static int64_t integer(int64_t x) { return static_cast<int64_t>(-static_cast<uint64_t>(x)); }
};
struct Not {
  static constexpr std::string_view kName = "not", kSummary = "every bit inverted; i1: logical not";
  static constexpr Kinds kKinds = kBits;
  static int64_t integer(int64_t x) { return ~x; }
};
struct RoundNearestEven {
  static constexpr std::string_view kName = "round_nearest_even", kSummary = "the nearest whole number, ties to even";
  static constexpr Kinds kKinds = kFloats;
  template <class F>
  static F real(F x) {
    return std::nearbyint(x);
  }
};
struct Rsqrt {
  static constexpr std::string_view kName = "rsqrt", kSummary = "1 / square root";
  static constexpr Kinds kKinds = kFloats;
  template <class F>
  static F real(F x) {
    return F(1) / std::sqrt(x);
  }
};
struct Sign {
  static constexpr std::string_view kName = "sign", kSummary = "-1, 0 or 1; keeps NaN and the sign of zero";
  static constexpr Kinds kKinds = kSignedNumbers;
  template <class F>
  static F real(F x) {
    return x > 0 ? F(1) : x < 0 ? F(-1) : x;
  }
  static int64_t integer(int64_t x) { return static_cast<int64_t>(x > 0) - static_cast<int64_t>(x < 0); }
};
struct Sine {
  static constexpr std::string_view kName = "sine", kSummary = "sine of radians";
  static constexpr Kinds kKinds = kFloats;
  template <class F>
  static F real(F x) {
    return std::sin(x);
  }
};
struct Sqrt {
  static constexpr std::string_view kName = "sqrt", kSummary = "square root";
  static constexpr Kinds kKinds = kFloats;
  template <class F>
  static F real(F x) {
    return std::sqrt(x);
  }
};
struct Tanh {
  static constexpr std::string_view kName = "tanh", kSummary = "hyperbolic tangent";
  static constexpr Kinds kKinds = kFloats;
  template <class F>
  static F real(F x) {
    return std::tanh(x);
  }
};

template <class Op>
Result<Types> infer(const InferArgs& args) {
  return infer_elementwise(Op::kName, Op::kKinds, args.operands);
}

template <class Op, class F>
Result<Tensors<F>> eval(EvalContext<F>& ctx) {
  const HostTensor<F>& x = ctx.operands[0];
  HostTensor<F> out = fresh(ctx);
  if (is_float(out.dtype())) {
    if constexpr (Op::kKinds.floating) {
      const auto from = x.floats();
      const auto to = out.mutable_floats();
      for (size_t i = 0; i < to.size(); ++i) to[i] = Op::real(from[i]);
    }
  } else if constexpr (Op::kKinds.signed_int) {
    const auto from = x.ints();
    const auto to = out.mutable_ints();
    for (size_t i = 0; i < to.size(); ++i) to[i] = Op::integer(from[i]);
  }
  out.settle();
  return one(std::move(out));
}

// The spec's section is named after the op; the text is complete at compile time.
template <class Op>
constexpr OpDef unary(std::string_view spec) {
  return checked({.name = Op::kName,
                  .level = OpLevel::kCore,
                  .summary = Op::kSummary,
                  .spec = spec,
                  .operands = 1,
                  .infer = infer<Op>,
                  .eval_f32 = eval<Op, float>,
                  .eval_f64 = eval<Op, double>,
                  .hlo = write_same_type});
}

}  // namespace

constinit const OpDef kAbs = unary<Abs>("stablehlo spec.md#abs");
constinit const OpDef kCeil = unary<Ceil>("stablehlo spec.md#ceil");
constinit const OpDef kCosine = unary<Cosine>("stablehlo spec.md#cosine");
constinit const OpDef kExponential = unary<Exponential>("stablehlo spec.md#exponential");
constinit const OpDef kFloor = unary<Floor>("stablehlo spec.md#floor");
constinit const OpDef kLog = unary<Log>("stablehlo spec.md#log");
constinit const OpDef kLogistic = unary<Logistic>("stablehlo spec.md#logistic");
constinit const OpDef kNegate = unary<Negate>("stablehlo spec.md#negate");
constinit const OpDef kNot = unary<Not>("stablehlo spec.md#not");
constinit const OpDef kRoundNearestEven = unary<RoundNearestEven>("stablehlo spec.md#round_nearest_even");
constinit const OpDef kRsqrt = unary<Rsqrt>("stablehlo spec.md#rsqrt");
constinit const OpDef kSign = unary<Sign>("stablehlo spec.md#sign");
constinit const OpDef kSine = unary<Sine>("stablehlo spec.md#sine");
constinit const OpDef kSqrt = unary<Sqrt>("stablehlo spec.md#sqrt");
constinit const OpDef kTanh = unary<Tanh>("stablehlo spec.md#tanh");

}  // namespace headrace::ops
