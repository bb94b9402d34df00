// Defined in docs/structured-ops.md#attend. Evaluated head by head and kQueryRows query rows at a time, so that scratch
// is kQueryRows * keys values whatever the prompt's length.
#include <algorithm>
#include <cmath>

#include "ops/contraction.h"
#include "ops/def.h"

namespace headrace::ops {

namespace {

constexpr int64_t kQueryRows = 256;

constexpr AttrSpec kAttrs[] = {{"scale", AttrKind::kFloat}, {"softcap", AttrKind::kFloat}, {"window", AttrKind::kInt}};

Status check_attrs(std::span<const Attr> attrs) {
  const double scale = attr<double>(attrs, 0);
  const double softcap = attr<double>(attrs, 1);
  const int64_t window = attr<int64_t>(attrs, 2);
  if (!std::isfinite(scale)) return fail(ErrorCode::kInfer, "scale {} (attend_c6)", scale);
  if (!std::isfinite(softcap) || softcap < 0) return fail(ErrorCode::kInfer, "softcap {} (attend_c7)", softcap);
  if (window < 0) return fail(ErrorCode::kInfer, "window {} (attend_c8)", window);
  return {};
}

Result<Types> infer(const InferArgs& args) {
  const Type& q = args.operands[0];
  const Type& k = args.operands[1];
  const Type& v = args.operands[2];
  for (size_t i = 0; i < 3; ++i) {
    const Type& type = args.operands[i];
    if (!is_float(type.dtype) || type.shape.size() != (i == 0 ? 5 : 4))
      return fail(ErrorCode::kInfer, "{} is {}, wanted floats [batch, heads, {}length, width] (attend_i{})", "qkv"[i],
                  to_string(type), i == 0 ? "group, " : "", i + 1);
  }
  const auto differ = [&](std::string_view what, std::string_view label) {
    return fail(ErrorCode::kInfer, "q is {}, k is {}, v is {}: {} ({})", to_string(q), to_string(k), to_string(v), what,
                label);
  };
  if (q.shape[0] != k.shape[0] || k.shape[0] != v.shape[0]) return differ("batches differ", "attend_c1");
  if (!k.shape[1].is_static() || q.shape[1] != k.shape[1] || !q.shape[2].is_static())
    return differ("numbers of heads differ or are symbolic", "attend_c2");
  if (k.shape[1] != v.shape[1] || k.shape[2] != v.shape[2]) return differ("keys do not match values", "attend_c3");
  if (q.shape[4] != k.shape[3]) return differ("widths of q and k differ", "attend_c4");
  for (const size_t i : {size_t{3}, size_t{4}}) {
    const Type wanted{DType::kI32, {q.shape[0], i == 3 ? q.shape[3] : k.shape[2]}};
    if (!(args.operands[i] == wanted))
      return fail(ErrorCode::kInfer, "{} positions are {}, wanted {} (attend_c5)", i == 3 ? "query" : "key",
                  to_string(args.operands[i]), to_string(wanted));
  }
  HR_TRY_STATUS(check_attrs(args.attrs));
  return Types{{q.dtype, {q.shape[0], q.shape[1], q.shape[2], q.shape[3], v.shape[3]}}};
}

// What all heads of one batch row share.
struct Rules {
  double scale{};
  double softcap{};
  int64_t window{};
  std::span<const int64_t> keys;  // positions

  [[nodiscard]] bool sees(int64_t query, int64_t key) const {
    return key >= 0 && key <= query && (window == 0 || query - key < window);
  }
};

// Scores of one query to probabilities, in place. A query that sees no key gets zeros.
template <class F>
void softmax_row(const Rules& rules, int64_t query, std::span<F> row) {
  const F scale = static_cast<F>(rules.scale);
  const F cap = static_cast<F>(rules.softcap);
  F largest = -std::numeric_limits<F>::infinity();
  bool any = false;
  for (size_t j = 0; j < row.size(); ++j) {
    if (!rules.sees(query, rules.keys[j])) continue;
    row[j] *= scale;
    if (cap != 0) row[j] = cap * std::tanh(row[j] / cap);
    largest = any ? std::max(largest, row[j]) : row[j];
    any = true;
  }
  F sum = 0;
  for (size_t j = 0; j < row.size(); ++j) {
    row[j] = rules.sees(query, rules.keys[j]) ? std::exp(row[j] - largest) : F(0);
    sum += row[j];
  }
  if (!any) return;
  for (F& p : row) p /= sum;
}

// [rows, n] of one head: out = a b^T with b given by its strides.
template <class F>
Contraction<F> product(int64_t rows, int64_t n, int64_t k, const F* a, const F* b, int64_t b_row, int64_t b_col, F* c) {
  return {.batch = 1,
          .m = rows,
          .n = n,
          .k = k,
          .a = a,
          .a_row_stride = k,
          .a_col_stride = 1,
          .b = b,
          .b_row_stride = b_row,
          .b_col_stride = b_col,
          .c = c};
}

template <class F>
Result<Tensors<F>> eval(EvalContext<F>& ctx) {
  const auto& [q, k, v] = std::tie(ctx.operands[0], ctx.operands[1], ctx.operands[2]);
  const int64_t group = q.sizes()[2];
  const int64_t heads = q.sizes()[1] * group;
  const int64_t queries = q.sizes()[3];
  const int64_t width = q.sizes()[4];
  const int64_t keys = k.sizes()[2];
  const int64_t value_width = v.sizes()[3];
  const auto query_positions = ctx.operands[3].ints();
  const auto key_positions = ctx.operands[4].ints();
  HostTensor<F> out = fresh(ctx);
  if (out.elements() == 0) return one(std::move(out));
  F* to = out.mutable_floats().data();
  std::vector<F> scores(index(std::min(kQueryRows, queries) * keys));
  for (int64_t head = 0; head < q.sizes()[0] * heads; ++head) {
    const int64_t batch = head / heads;
    const int64_t key_head = head / group;
    const Rules rules{.scale = attr<double>(ctx.node.attrs, 0),
                      .softcap = attr<double>(ctx.node.attrs, 1),
                      .window = attr<int64_t>(ctx.node.attrs, 2),
                      .keys = key_positions.subspan(index(batch * keys), index(keys))};
    const F* head_k = k.floats().data() + key_head * keys * width;
    const F* head_v = v.floats().data() + key_head * keys * value_width;
    for (int64_t first = 0; first < queries; first += kQueryRows) {
      const int64_t rows = std::min(kQueryRows, queries - first);
      const F* block_q = q.floats().data() + (head * queries + first) * width;
      contract(ctx, product(rows, keys, width, block_q, head_k, width, 1, scores.data()));
      for (int64_t row = 0; row < rows; ++row)
        softmax_row(rules, query_positions[index(batch * queries + first + row)],
                    std::span(scores).subspan(index(row * keys), index(keys)));
      contract(ctx, product<F>(rows, value_width, keys, scores.data(), head_v, 1, value_width, to));
      to += rows * value_width;
    }
  }
  out.settle();
  return one(std::move(out));
}

}  // namespace

constinit const OpDef kAttend = checked({.name = "attend",
                                         .level = OpLevel::kStructured,
                                         .summary = "causal attention by positions, with grouped key heads",
                                         .spec = "docs/structured-ops.md#attend",
                                         .operands = 5,
                                         .attrs = kAttrs,
                                         .infer = infer,
                                         .eval_f32 = eval<float>,
                                         .eval_f64 = eval<double>,
                                         .hlo = nullptr});

}  // namespace headrace::ops
