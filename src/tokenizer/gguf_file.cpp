#include "tokenizer/gguf_file.h"

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <span>

#include "base/bounded_json.h"
#include "tokenizer/base64.h"
#include "tokenizer/utf8.h"

namespace headrace {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kFormat = "headrace.tokenizer";
constexpr int64_t kVersion = 1;

struct IdMember {
  std::string_view name;
  std::optional<int64_t> GgufTokenizerFields::*field;
};
constexpr IdMember kIds[] = {{"bos", &GgufTokenizerFields::bos},
                             {"eos", &GgufTokenizerFields::eos},
                             {"eot", &GgufTokenizerFields::eot},
                             {"eom", &GgufTokenizerFields::eom},
                             {"unknown", &GgufTokenizerFields::unknown}};
struct FlagMember {
  std::string_view name;
  std::optional<bool> GgufTokenizerFields::*field;
};
constexpr FlagMember kFlags[] = {{"add_bos", &GgufTokenizerFields::add_bos},
                                 {"add_eos", &GgufTokenizerFields::add_eos},
                                 {"add_space_prefix", &GgufTokenizerFields::add_space_prefix},
                                 {"remove_extra_whitespaces", &GgufTokenizerFields::remove_extra_whitespaces}};

// Written by hand, not through a JSON tree, to hold a vocabulary of 262,144 pieces once.
std::string spelt(const std::string& text) {
  if (is_utf8(text)) return Json(text).dump();
  const std::span bytes(reinterpret_cast<const uint8_t*>(text.data()), text.size());
  return fmt::format("[{}]", fmt::join(bytes, ", "));
}

void append_lines(std::string& out, std::string_view name, const std::vector<std::string>& items) {
  if (items.empty()) return;
  out += fmt::format(",\n\"{}\": [", name);
  const char* separator = "\n";
  for (const std::string& item : items) {
    out += separator;
    out += spelt(item);
    separator = ",\n";
  }
  out += "\n]";
}

class FileReader {
 public:
  FileReader(const Json& root, std::string_view place) : root_(root), place_(place) {}

  Result<GgufTokenizerFields> run() {
    if (member("format") != kFormat || member("version") != kVersion)
      return wrong(fmt::format("not a file of format {}, version {}", kFormat, kVersion));
    HR_TRY(out_.model, text("model", true));
    if (root_.contains("pre")) {
      HR_TRY(out_.pre, text("pre", true));
    }
    HR_TRY(const std::string charsmap, text("charsmap", false));
    const auto bytes = from_base64(charsmap);
    if (!bytes) return wrong("charsmap is not base64");
    out_.charsmap = *bytes;
    HR_TRY_STATUS(read_strings("pieces", out_.pieces));
    HR_TRY_STATUS(read_strings("merges", out_.merges));
    HR_TRY_STATUS(read_numbers());
    HR_TRY_STATUS(read_special());
    return std::move(out_);
  }

 private:
  [[nodiscard]] tl::unexpected<Error> wrong(std::string_view what) const {
    return fail(ErrorCode::kVocabulary, "{}: {}", place_, what);
  }
  [[nodiscard]] Json member(std::string_view name) const {
    const auto it = root_.find(name);
    return it == root_.end() ? Json() : *it;
  }
  [[nodiscard]] Result<std::string> text(std::string_view name, bool wanted) const {
    const auto it = root_.find(name);
    if (it != root_.end() && it->is_string()) return it->get<std::string>();
    if (it == root_.end() && !wanted) return std::string();
    return wrong(fmt::format("{} is not a string", name));
  }

  Result<std::string> item_text(const Json& item, std::string_view name) const {
    if (item.is_string()) return item.get<std::string>();
    std::string bytes;
    for (const Json& byte : item) {
      if (!byte.is_number_unsigned() || byte.get<uint64_t>() > 255 || !item.is_array())
        return wrong(fmt::format("{} holds an item that is neither a string nor bytes", name));
      bytes += static_cast<char>(byte.get<uint8_t>());
    }
    if (!item.is_array()) return wrong(fmt::format("{} holds an item that is neither a string nor bytes", name));
    return bytes;
  }
  Status read_strings(std::string_view name, std::vector<std::string>& out) const {
    const auto it = root_.find(name);
    if (it == root_.end() && name != "pieces") return {};
    if (it == root_.end() || !it->is_array()) return wrong(fmt::format("{} is not a list", name));
    out.reserve(it->size());
    for (const Json& item : *it) {
      HR_TRY(out.emplace_back(), item_text(item, name));
    }
    return {};
  }
  Status read_numbers() {
    const auto types = root_.find("types");
    if (types == root_.end() || !types->is_array() || types->size() != out_.pieces.size())
      return wrong("'pieces' and 'types' are not lists of one length");
    for (const Json& type : *types) {
      if (!type.is_number_unsigned() || type.get<uint64_t>() < 1 || type.get<uint64_t>() > 6)
        return wrong("types holds an item that is not a number from 1 to 6");
      out_.types.push_back(static_cast<PieceType>(type.get<uint8_t>()));
    }
    const auto scores = root_.find("scores");
    if (scores == root_.end()) return {};
    if (!scores->is_array() || scores->size() != out_.pieces.size())
      return wrong("'pieces' and 'scores' are not lists of one length");
    for (const Json& score : *scores) {
      if (!score.is_number() || !std::isfinite(score.get<float>()))
        return wrong("scores holds an item that is not a finite number");
      out_.scores.push_back(score.get<float>());
    }
    return {};
  }
  Status read_special() {
    for (const auto& [name, field] : kIds) {
      const Json id = member(name);
      if (id.is_null()) continue;
      if (!id.is_number_unsigned() || id.get<uint64_t>() >= out_.pieces.size())
        return wrong(fmt::format("{} is no token of {} pieces", name, out_.pieces.size()));
      out_.*field = id.get<int64_t>();
    }
    for (const auto& [name, field] : kFlags) {
      const Json flag = member(name);
      if (flag.is_null()) continue;
      if (!flag.is_boolean()) return wrong(fmt::format("{} is neither true nor false", name));
      out_.*field = flag.get<bool>();
    }
    return {};
  }

  const Json& root_;
  std::string_view place_;
  GgufTokenizerFields out_;
};

}  // namespace

std::string to_tokenizer_file(const GgufTokenizerFields& fields) {
  std::string out = fmt::format("{{\n\"format\": \"{}\",\n\"version\": {},\n\"model\": {}", kFormat, kVersion,
                                spelt(with_replacements(fields.model)));
  if (fields.pre) out += fmt::format(",\n\"pre\": {}", spelt(with_replacements(*fields.pre)));
  for (const auto& [name, field] : kIds)
    if (fields.*field) out += fmt::format(",\n\"{}\": {}", name, *(fields.*field));
  for (const auto& [name, field] : kFlags)
    if (fields.*field) out += fmt::format(",\n\"{}\": {}", name, *(fields.*field));
  if (!fields.charsmap.empty()) out += fmt::format(",\n\"charsmap\": \"{}\"", to_base64(fields.charsmap));
  append_lines(out, "pieces", fields.pieces);
  if (fields.pieces.empty()) out += ",\n\"pieces\": []";
  out += ",\n\"types\": [";
  const char* separator = "";
  for (const PieceType type : fields.types) {
    out += fmt::format("{}{}", separator, static_cast<int>(type));
    separator = ",";
  }
  out += "]";
  if (!fields.scores.empty()) out += fmt::format(",\n\"scores\": [{}]", fmt::join(fields.scores, ","));
  append_lines(out, "merges", fields.merges);
  return out + "\n}\n";
}

Result<GgufTokenizerFields> parse_tokenizer_file(std::string_view text, std::string_view place) {
  // Strings and numbers a line: a tree of them costs up to this much more than their text.
  constexpr size_t kTreePerByte = 16;
  const JsonLimits limits{.depth = 4, .tree_bytes = kTreePerByte * text.size() + 1'000'000};
  HR_TRY(const Json root, parse_bounded_json(text, ErrorCode::kVocabulary, place, limits));
  return FileReader(root, place).run();
}

}  // namespace headrace
