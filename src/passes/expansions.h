// The spellings of expansions.def. Each takes a site of its structured op and returns the values that replace it.
#pragma once

#include "passes/expand.h"

namespace headrace {

// linear: x as [rows, in], one 2-D dot with the weight as it lies ([out, in], contracted over dims 1 and 1), then heads
// split by reshape and transpose. Needs a static number of rows.
[[nodiscard]] Result<std::vector<ValueId>> linear_dot_2d(GraphBuilder& builder, const RewriteSite& site);
// linear: the same, with a barrier before x: YNNPACK is to take the weight's conversion into the product
// (docs/adr/0002), but not what computes x, which would be computed again for each part of the weight.
[[nodiscard]] Result<std::vector<ValueId>> linear_dot_apart(GraphBuilder& builder, const RewriteSite& site);
// linear: a dot of x as it is, [B, S, in], with the weight.
[[nodiscard]] Result<std::vector<ValueId>> linear_dot_3d(GraphBuilder& builder, const RewriteSite& site);
// linear, for one row: the row broadcast over the weight's rows, multiplied, summed. All in one loop over the narrow
// weight where an engine would lay a converted one out in memory before a dot.
[[nodiscard]] Result<std::vector<ValueId>> linear_reduce(GraphBuilder& builder, const RewriteSite& site);
// embedding: one gather of whole rows.
[[nodiscard]] Result<std::vector<ValueId>> embedding_gather(GraphBuilder& builder, const RewriteSite& site);
// linear: for a symbolic number of rows, which no reshape may touch. Heads are batch dims: x is broadcast over them and
// meets W seen as [B, heads.., out / H, in]; merging multiplies head by head and sums over heads.
[[nodiscard]] Result<std::vector<ValueId>> linear_batched(GraphBuilder& builder, const RewriteSite& site);
// embedding, for 16-bit floats: the gather on the table's bits. XLA's CPU backend turns a gather of bf16 into one of
// f32, for which it converts the whole table on every call.
[[nodiscard]] Result<std::vector<ValueId>> embedding_gather_bits(GraphBuilder& builder, const RewriteSite& site);
// attend: two dots batched over key heads; softmax in f32 over
// visible keys, normalised after the second dot. Invisible scores are a large finite number: a row without keys gives
// zeros, no NaN.
[[nodiscard]] Result<std::vector<ValueId>> attend_grouped_dots(GraphBuilder& builder, const RewriteSite& site);

}  // namespace headrace
