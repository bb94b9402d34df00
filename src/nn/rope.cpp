#include "nn/rope.h"

#include <cmath>
#include <span>

#include "ops/ops.h"

namespace headrace {

namespace {

Literal vector_literal(std::span<const float> values) {
  const auto bytes = std::as_bytes(values);
  return {.dtype = DType::kF32,
          .sizes = {static_cast<int64_t>(values.size())},
          .splat = false,
          .bytes = std::make_shared<const std::vector<std::byte>>(bytes.begin(), bytes.end())};
}

// base^(-2i/n) / factor for i < n/2, each rounded once to f32 from f64.
std::vector<float> frequencies(const RopeConfig& config) {
  std::vector<float> values;
  for (int64_t i = 0; i < config.rotated / 2; ++i) {
    const double exponent = -2.0 * static_cast<double>(i) / static_cast<double>(config.rotated);
    values.push_back(static_cast<float>(std::pow(config.base, exponent) / config.linear_factor));
  }
  return values;
}

void check_normal(Tracer& t, std::string_view what, std::span<const float> values) {
  for (const float value : values)
    if (!std::isnormal(value) || value < 0) t.refuse(fmt::format("rope: one of the {} is {}", what, value));
}

// angle - round(angle / 2 pi) * 2 pi with 2 pi in three parts (Cody & Waite 1980). The first two have 8 and 9
// significant bits, so that their products with a multiple below 2^15 are exact in f32, fused or not; the third is the
// rest. Good to 2.5e-7 for angles up to 131072, on engines whose own reduction loses 1e-3 there.
Tensor reduced(const Tensor& angle) {
  constexpr double kInverse = 0.15915494;
  constexpr double kParts[] = {6.28125, 507.0 / 262144.0, 1.2556658930407139e-06};
  const Tensor turns = unary(ops::kRoundNearestEven, angle * kInverse);
  Tensor out = angle;
  for (const double part : kParts) out = out - turns * part;
  return out;
}

struct Halves {
  Tensor first;
  Tensor second;
};

// The two elements of each pair, [B, heads.., S, n/2] each. Strided slices rather than a reshape to [.., n/2, 2]: IREE
// cannot reshape a tensor with a symbolic dim.
Halves take_pairs(const Tensor& x, RopePairing pairing) {
  const auto last = static_cast<int64_t>(x.rank()) - 1;
  const int64_t n = x.dim(x.rank() - 1).value();
  const int64_t half = n / 2;
  if (pairing == RopePairing::kHalf) return {.first = slice(x, last, 0, half), .second = slice(x, last, half, n)};
  return {.first = slice(x, last, 0, n - 1, 2), .second = slice(x, last, 1, n, 2)};
}

}  // namespace

RopeTables rope_tables(const Tensor& positions, const RopeConfig& config) {
  Tracer& t = positions.tracer();
  if (config.rotated <= 0 || config.rotated % 2 != 0)
    t.refuse(fmt::format("rope: {} elements rotate, expected a positive even number", config.rotated));
  const Shape shape{positions.dim(0), positions.dim(1), config.rotated / 2};
  const std::vector<float> plain = frequencies(config);
  check_normal(t, "frequencies", plain);
  check_normal(t, "divisors of frequencies", config.divisors);
  Tensor frequency = t.add(ops::kConstant, {}, {vector_literal(plain)});
  if (config.factors) frequency = frequency / t.parameter(*config.factors);
  if (!config.divisors.empty()) frequency = frequency / t.add(ops::kConstant, {}, {vector_literal(config.divisors)});
  const Tensor angle =
      broadcast_in_dim(convert(positions, DType::kF32), shape, {0, 1}) * broadcast_in_dim(frequency, shape, {2});
  const Tensor small = reduced(angle);
  return {.cosine = unary(ops::kCosine, small), .sine = unary(ops::kSine, small)};
}

Tensor rope(const Tensor& x, const RopeTables& tables, const RopeConfig& config) {
  const size_t rank = x.rank();
  if (rank < 4 || !x.dim(rank - 1).is_static() || x.dim(rank - 1).value() < config.rotated)
    x.tracer().refuse(
        fmt::format("rope: {} has no {} elements per head to rotate", to_string(x.type()), config.rotated));
  const auto last = static_cast<int64_t>(rank) - 1;
  const int64_t head = x.dim(rank - 1).value();
  const bool whole = head == config.rotated;
  const Halves pairs = take_pairs(whole ? x : slice(x, last, 0, config.rotated), config.pairing);
  const Tensor cosine = broadcast_in_dim(tables.cosine, pairs.first.shape(), {0, last - 1, last});
  const Tensor sine = broadcast_in_dim(tables.sine, pairs.first.shape(), {0, last - 1, last});
  std::vector<Tensor> parts{pairs.first * cosine - pairs.second * sine, pairs.first * sine + pairs.second * cosine};
  if (!whole) parts.push_back(slice(x, last, config.rotated, head));
  return concatenate(parts, last);
}

}  // namespace headrace
