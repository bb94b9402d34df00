#include "formats/json_file.h"

#include "formats/file.h"
#include "formats/sniff.h"

namespace headrace {

Result<std::string> read_json_file(const std::string& path, uint64_t most_bytes, ErrorCode code, HeaderHash& hash) {
  HR_TRY(const InputFile file, InputFile::open(path));
  if (file.size_bytes() > most_bytes)
    return fail(code, "{}: {} bytes, more than the {} allowed", path, file.size_bytes(), most_bytes);
  HR_TRY(std::string text, file.read_text(0, file.size_bytes()));
  hash.add(std::as_bytes(std::span(text)));
  if (const auto what = foreign_json(text)) return fail(code, "{}: not JSON: {}", path, *what);
  return text;
}

}  // namespace headrace
