// The tokenizer file of an export, ours or a tokenizer.json: what is accepted spells every id, and encodes a text or
// says why not; what it encodes are ids.
#include "target.h"
#include "tokenizer/tokenizer_file.h"

HR_FUZZ_TARGET(vocabulary) {
  using namespace headrace;  // NOLINT(google-build-using-namespace): the whole file is one call
  const auto tokenizer = [&] {
    // A piece: three characters, and strings, places in tables and a JSON value. The rest: set of neighbours.
    const fuzz::MemoryBound bound(input.size(), 100);
    return parse_tokenizer(fuzz::text_of(input), "input");
  }();
  if (!tokenizer) return;
  for (int64_t id = 0; id < tokenizer->size(); ++id)
    fuzz::expect(tokenizer->decode(std::span(&id, 1), {.show_special = true}).has_value(), "an id has no bytes");
  for (const std::string_view text : {"a<s> b\n12 \xFF\u2581\u00e9", "  "}) {
    const auto ids = tokenizer->encode(text, {.parse_special = true});
    if (ids) fuzz::expect(tokenizer->decode(*ids).has_value(), "a text becomes ids outside the vocabulary");
  }
}
