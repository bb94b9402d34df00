// The vocabulary file of an export: what is accepted can be written and read back, and every piece has its bytes.
#include "target.h"
#include "tokenizer/pieces.h"

HR_FUZZ_TARGET(vocabulary) {
  using namespace headrace;  // NOLINT(google-build-using-namespace): the whole file is one call
  auto vocabulary = [&] {
    const fuzz::MemoryBound bound(input.size(), 48);  // a piece: three characters, and two strings and a JSON value
    return parse_vocabulary(fuzz::text_of(input));
  }();
  if (!vocabulary) return;
  for (size_t id = 0; id < vocabulary->pieces.size(); ++id)
    static_cast<void>(piece_bytes(*vocabulary, static_cast<int64_t>(id)));
  const auto again = parse_vocabulary(to_json(*vocabulary));
  fuzz::expect(again.has_value() && *again == *vocabulary, "a vocabulary changes when it is written and read");
}
