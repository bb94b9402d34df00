#include <algorithm>
#include <filesystem>
#include <memory>

#include "formats/file.h"
#include "tokenizer/tokenizer_file.h"
#include "tools/command.h"
#include "tools/export_cache.h"
#include "tools/text.h"
#include "tools/usage.h"

namespace headrace::tools {
namespace {

struct Typed {
  std::string model, text, file, lines, ids;
  bool special{};
  bool bare{};
  CLI::Option* text_option{};
  CLI::Option* ids_option{};
};

Json piece_json(const Tokenizer& tokenizer, int64_t id) { return as_utf8(tokenizer.piece(id)); }

Status print_ids(const Tokenizer& tokenizer, const std::vector<int64_t>& ids, Output& output) {
  if (output.json()) {
    Json pieces = Json::array();
    for (const int64_t id : ids) pieces.push_back(piece_json(tokenizer, id));
    output.document({{"tokens", ids}, {"pieces", std::move(pieces)}});
    return {};
  }
  output.text(fmt::format("{}\n", fmt::join(ids, ",")));
  if (output.quiet()) return {};
  std::vector<std::string> pieces;
  pieces.reserve(ids.size());
  for (const int64_t id : ids) pieces.push_back(in_quotes(tokenizer.piece(id)));
  output.note("{} tokens: {}", ids.size(), fmt::join(pieces, " "));
  return {};
}

Status print_text(const Tokenizer& tokenizer, const Typed& typed, Output& output) {
  const std::vector<int64_t> ids = parse_tokens(typed.ids);
  HR_TRY(const std::string text, tokenizer.decode(ids, {.show_special = typed.special}));
  if (output.json())
    output.document({{"tokens", ids}, {"text", as_utf8(text)}});
  else
    output.text(output.quiet() ? text : text + "\n");
  return {};
}

Result<std::string> contents(const std::string& path) {
  HR_TRY(const InputFile file, InputFile::open(path));
  return file.read_text(0, file.size_bytes());
}

// Bytes as JSON: a string, or the list of the bytes where they are no UTF-8.
Json bytes_json(std::string_view bytes) {
  if (as_utf8(bytes) == bytes) return bytes;
  Json list = Json::array();
  for (const char byte : bytes) list.push_back(static_cast<unsigned char>(byte));
  return list;
}

Result<std::string> bytes_of(const Json& line) {
  if (line.is_string()) return line.get<std::string>();
  std::string bytes;
  for (const Json& byte : line) {
    if (!byte.is_number_unsigned() || byte.get<uint64_t>() > 255)
      return fail(ErrorCode::kInput, "expected a JSON string or a list of bytes");
    bytes += static_cast<char>(byte.get<uint8_t>());
  }
  return bytes;
}

Result<Json> encode_line(const Tokenizer& tokenizer, const Typed& typed, const Json& line) {
  HR_TRY(const std::string text, bytes_of(line));
  HR_TRY(const auto ids, tokenizer.encode(text, {.add_special = !typed.bare, .parse_special = typed.special}));
  return Json(ids);
}

Result<Json> decode_line(const Tokenizer& tokenizer, const Typed& typed, const Json& line) {
  std::vector<int64_t> ids;
  for (const Json& id : line) {
    if (!id.is_number_integer()) return fail(ErrorCode::kInput, "expected a list of token ids");
    ids.push_back(id.get<int64_t>());
  }
  HR_TRY(const std::string text, tokenizer.decode(ids, {.show_special = typed.special}));
  return bytes_json(text);
}

// Each line of the file is a text (or, for --detokenize, a list of ids) by itself, and gives one line.
Status run_lines(const Tokenizer& tokenizer, const Typed& typed, Output& output) {
  HR_TRY(const std::string text, contents(typed.lines));
  std::string_view rest = text;
  for (size_t number = 1; !rest.empty(); ++number) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    const Json json = Json::parse(line, nullptr, /*allow_exceptions=*/false);
    auto result = !json.is_string() && !json.is_array()
                      ? Result<Json>(fail(ErrorCode::kInput, "expected a JSON string or a list"))
                  : typed.ids_option->count() > 0 ? decode_line(tokenizer, typed, json)
                                                  : encode_line(tokenizer, typed, json);
    if (!result) return fail(std::move(result).error().in(fmt::format("{}: line {}", typed.lines, number)));
    output.text(result->dump() + "\n");
    if (output.closed()) break;
  }
  return {};
}

// A tokenizer.json or an export's tokenizer file, by name or by the directory, or a checkpoint.
Result<Tokenizer> open_tokenizer(const std::string& path, Output& output) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (fs::is_directory(path, error) && !fs::exists(fs::path(path) / "config.json", error))
    for (const char* name : {"tokenizer.json", "vocabulary.json"})
      if (const fs::path file = fs::path(path) / name; fs::exists(file, error)) return load_tokenizer(file.string());
  if (is_export(path)) return fail(ErrorCode::kInput, "{}: the export has no tokenizer", path);
  if (path.ends_with(".json") && !path.ends_with(".index.json")) return load_tokenizer(path);
  Warnings warnings;
  HR_TRY(const Checkpoint checkpoint, open_checkpoint(path, warnings));
  output.warnings(warnings);
  auto tokenizer = read_tokenizer(checkpoint);
  if (!tokenizer) return fail(std::move(tokenizer).error().in(path));
  return tokenizer;
}

Status run_tokenize(const Typed& typed, Output& output) {
  const bool has_text = typed.text_option->count() > 0;
  const bool decodes = typed.ids_option->count() > 0;
  const bool lines = !typed.lines.empty();
  const bool given[] = {has_text, !typed.file.empty(), lines || decodes};
  if (std::ranges::count(given, true) != 1) wrong_usage("TEXT, --file, --lines and --detokenize: one of them");
  if (lines && decodes && !typed.ids.empty()) wrong_usage("--detokenize with --lines takes no ids of its own");
  if (!lines && decodes && typed.ids.empty()) wrong_usage("--detokenize: ids are missing");
  HR_TRY(const Tokenizer tokenizer, open_tokenizer(typed.model, output));
  if (decodes) return lines ? run_lines(tokenizer, typed, output) : print_text(tokenizer, typed, output);
  if (auto refused = tokenizer.cannot_encode()) return fail((*std::move(refused)).in(typed.model));
  if (lines) return run_lines(tokenizer, typed, output);
  std::string text = typed.text;
  if (!has_text) {
    HR_TRY(text, contents(typed.file));
  }
  HR_TRY(const auto ids, tokenizer.encode(text, {.add_special = !typed.bare, .parse_special = typed.special}));
  return print_ids(tokenizer, ids, output);
}

}  // namespace

Run declare_tokenize(CLI::App& app) {
  auto typed = std::make_shared<Typed>();
  app.add_option("MODEL", typed->model,
                 "A checkpoint, an export's directory, a tokenizer.json, or a directory with one")
      ->required()
      ->type_name("");
  typed->text_option = app.add_option("TEXT", typed->text, "The text to encode")->type_name("");
  app.add_option("--file", typed->file, "A file with the text to encode, in place of TEXT")->type_name("FILE");
  typed->ids_option =
      app.add_option("--detokenize", typed->ids, "Comma-separated token ids to decode, in place of TEXT")
          ->type_name("IDS")
          ->expected(0, 1);
  app.add_option("--lines", typed->lines,
                 "A file with a text a line, as JSON strings; prints the ids of each on a line. With --detokenize: ids "
                 "in, strings out. What is not UTF-8 is a list of bytes")
      ->type_name("FILE");
  app.add_flag("--special", typed->special,
               "Control tokens in the text become their tokens; decoding shows them. Without: they are text, and are "
               "left out");
  app.add_flag("--bare", typed->bare, "Without the tokens that the file puts around a text (bos, eos)");
  return [typed](Output& output) { return run_tokenize(*typed, output); };
}

}  // namespace headrace::tools
