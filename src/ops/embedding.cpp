// Defined in docs/structured-ops.md#embedding.
#include <algorithm>

#include "ops/def.h"

namespace headrace::ops {

namespace {

Result<Types> infer(const InferArgs& args) {
  const Type& table = args.operands[0];
  const Type& ids = args.operands[1];
  HR_TRY_STATUS(check_kind(table, kFloats, "table", "embedding_i1"));
  if (table.shape.size() != 2)
    return fail(ErrorCode::kInfer, "table is {}, wanted [vocabulary, width] (embedding_i1)", to_string(table));
  if (ids.dtype != DType::kI32 || ids.shape.empty())
    return fail(ErrorCode::kInfer, "ids are {}, wanted i32[batch, sequence] (embedding_i2)", to_string(ids));
  Type out{table.dtype, ids.shape};
  out.shape.push_back(table.shape[1]);
  return Types{out};
}

template <class F>
Result<Tensors<F>> eval(EvalContext<F>& ctx) {
  const auto table = ctx.operands[0].floats();
  const auto ids = ctx.operands[1].ints();
  const int64_t rows = ctx.operands[0].sizes()[0];
  const auto width = index(ctx.operands[0].sizes()[1]);
  HostTensor<F> out = fresh(ctx);
  F* to = out.mutable_floats().data();
  for (const int64_t id : ids) {
    if (id < 0 || id >= rows)
      return fail(ErrorCode::kEvaluate, "id {} is not in the vocabulary of {} (0 to {})", id, rows, rows - 1);
    to = std::ranges::copy(table.subspan(index(id) * width, width), to).out;
  }
  return one(std::move(out));
}

}  // namespace

constinit const OpDef kEmbedding = checked({.name = "embedding",
                                            .level = OpLevel::kStructured,
                                            .summary = "rows of a table by id; ids outside it are an error",
                                            .spec = "docs/structured-ops.md#embedding",
                                            .operands = 2,
                                            .infer = infer,
                                            .eval_f32 = eval<float>,
                                            .eval_f64 = eval<double>,
                                            .hlo = nullptr});

}  // namespace headrace::ops
