#include "nn/layers.h"

#include "ops/ops.h"

namespace headrace {

namespace {

Tensor linear(const Linear& layer, const Tensor& x, std::vector<int64_t> split, std::vector<int64_t> merge) {
  Tracer& t = x.tracer();
  std::vector<Tensor> operands{x, t.parameter(layer.weight)};
  if (layer.bias) operands.push_back(t.parameter(*layer.bias));
  return t.add(ops::kLinear, operands, {std::move(split), std::move(merge)});
}

}  // namespace

Tensor Linear::operator()(const Tensor& x) const { return linear(*this, x, {}, {}); }

Tensor Linear::split_heads(const Tensor& x, std::vector<int64_t> heads) const {
  return linear(*this, x, std::move(heads), {});
}

Tensor Linear::merge_heads(const Tensor& x) const {
  std::vector<int64_t> heads;
  for (size_t i = 1; i + 2 < x.rank(); ++i) {
    const Dim factor = x.dim(i);
    if (!factor.is_static())
      x.tracer().refuse(fmt::format("the number of heads is symbolic in {}", to_string(x.type())));
    heads.push_back(factor.value());
  }
  return linear(*this, x, {}, std::move(heads));
}

Tensor RmsNorm::operator()(const Tensor& x) const {
  const Dim width = x.dim(x.rank() - 1);
  if (!width.is_static()) x.tracer().refuse(fmt::format("the last dim of {} is symbolic", to_string(x.type())));
  const auto last = static_cast<int64_t>(x.rank()) - 1;
  const Tensor wide = convert(x, DType::kF32);
  const Tensor mean = reduce_sum(wide * wide, {last}) / static_cast<double>(width.value());
  std::vector<int64_t> kept;
  for (int64_t i = 0; i < last; ++i) kept.push_back(i);
  const Tensor scale = broadcast_in_dim(unary(ops::kRsqrt, mean + eps), x.shape(), kept);
  Tensor w = convert(x.tracer().parameter(weight), DType::kF32);
  if (offset != 0) w = w + offset;
  return convert(wide * scale * w, x.dtype());
}

Tensor Embedding::operator()(const Tensor& ids) const {
  return ids.tracer().add(ops::kEmbedding, {ids.tracer().parameter(weight), ids});
}

Tensor Embedding::head(const Tensor& x) const { return Linear{.weight = weight}(x); }

Tensor sigmoid(const Tensor& x) { return unary(ops::kLogistic, x); }

Tensor silu(const Tensor& x) { return x * sigmoid(x); }

Tensor gelu_tanh(const Tensor& x) {
  constexpr double kSqrtTwoOverPi = 0.79788456080286535588;
  const Tensor inner = (x + x * x * x * 0.044715) * kSqrtTwoOverPi;
  return x * 0.5 * (unary(ops::kTanh, inner) + 1.0);
}

Tensor softcap(const Tensor& x, double cap) { return unary(ops::kTanh, x / cap) * cap; }

}  // namespace headrace
