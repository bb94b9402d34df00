#include "tokenizer/tokenizer_file.h"

#include "tokenizer/gguf_fields.h"

namespace headrace {

Result<Tokenizer> read_tokenizer(const Checkpoint& checkpoint) {
  HR_TRY(auto fields, gguf_tokenizer_fields(checkpoint));
  if (!fields) return fail(ErrorCode::kConfigMissing, "the checkpoint holds no tokenizer (tokenizer.ggml.tokens)");
  return make_gguf_tokenizer(*std::move(fields));
}

}  // namespace headrace
