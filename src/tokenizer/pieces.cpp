#include "tokenizer/pieces.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <nlohmann/json.hpp>
#include <span>

#include "formats/meta.h"
#include "tokenizer/hf_facts.h"

namespace headrace {
namespace {

constexpr std::string_view kFormat = "headrace.vocabulary";
constexpr int64_t kFileVersion = 1;
// The largest vocabularies hold 262,144 pieces. Copies of more would cost more memory than the file justifies.
constexpr size_t kMaxPieces = 400'000;

// GPT-2's byte-level alphabet: printable Latin-1 characters stand for themselves, every other byte for the next free
// character from U+0100 on. All characters are below U+0144, so one or two bytes of UTF-8.
constexpr int kAlphabetEnd = 0x144;
constexpr std::array<int, kAlphabetEnd> kByteOfCharacter = [] {
  std::array<int, kAlphabetEnd> bytes{};
  bytes.fill(-1);
  size_t next = 0x100;
  for (int b = 0; b < 256; ++b) {
    const bool itself = (b >= 0x21 && b <= 0x7E) || (b >= 0xA1 && b <= 0xAC) || b >= 0xAE;
    bytes[itself ? static_cast<size_t>(b) : next++] = b;
  }
  return bytes;
}();

// Characters outside the alphabet are kept as they are.
std::string decode_byte_level(std::string_view piece) {
  std::string out;
  for (size_t i = 0; i < piece.size();) {
    const auto lead = static_cast<unsigned char>(piece[i]);
    const bool two = (lead & 0xE0U) == 0xC0U && i + 1 < piece.size();
    const size_t character = two ? ((lead & 0x1FU) << 6U) | (static_cast<unsigned char>(piece[i + 1]) & 0x3FU) : lead;
    const size_t length = two ? 2 : 1;
    const bool ours = (two || lead < 0x80) && character < kAlphabetEnd && kByteOfCharacter[character] >= 0;
    if (ours) {
      out += static_cast<char>(kByteOfCharacter[character]);
    } else {
      out += piece.substr(i, length);
    }
    i += length;
  }
  return out;
}

// SentencePiece writes a space as U+2581.
std::string decode_sentencepiece(std::string_view piece) {
  constexpr std::string_view kSpace = "\xE2\x96\x81";
  std::string out;
  while (!piece.empty()) {
    const bool space = piece.starts_with(kSpace);
    out += space ? ' ' : piece.front();
    piece.remove_prefix(space ? kSpace.size() : 1);
  }
  return out;
}

struct KindRow {
  std::string_view name;
  std::string (*decode)(std::string_view piece){};
};
constexpr KindRow kKinds[] = {
    {.name = "gpt2", .decode = decode_byte_level},
    {.name = "llama", .decode = decode_sentencepiece},
};

const KindRow* find_kind(std::string_view name) {
  const auto* row = std::ranges::find(kKinds, name, &KindRow::name);
  return row == std::end(kKinds) ? nullptr : row;
}

// `<0x0A>` -> byte 10.
std::optional<char> byte_of(std::string_view piece) {
  if (piece.size() != 6 || !piece.starts_with("<0x") || piece.back() != '>') return std::nullopt;
  unsigned value = 0;
  const auto [end, error] = std::from_chars(piece.data() + 3, piece.data() + 5, value, 16);
  if (error != std::errc() || end != piece.data() + 5) return std::nullopt;
  return static_cast<char>(value);
}

Result<PieceType> piece_type(int64_t number, size_t id) {
  if (number >= 1 && number <= 6) return static_cast<PieceType>(number);
  return fail(ErrorCode::kConfigValue, "tokenizer.ggml.token_type: token {} has type {}, expected 1 to 6", id, number);
}

Result<std::vector<PieceType>> piece_types(const Checkpoint& checkpoint, size_t pieces) {
  constexpr std::string_view kKey = "tokenizer.ggml.token_type";
  std::vector<PieceType> types(pieces, PieceType::kNormal);
  if (const auto size = meta_array_size(checkpoint, kKey); size && *size != pieces)
    return fail(ErrorCode::kConfigValue, "{} has {} items, tokenizer.ggml.tokens has {}", kKey, *size, pieces);
  HR_TRY(const auto numbers, meta_int_array(checkpoint, kKey));
  for (size_t id = 0; numbers && id < pieces; ++id) {
    HR_TRY(types[id], piece_type((*numbers)[id], id));
  }
  return types;
}

Result<const std::vector<std::string>*> pieces_of(const Checkpoint& checkpoint) {
  HR_TRY(const auto* pieces, meta_string_array(checkpoint, "tokenizer.ggml.tokens"));
  return pieces == nullptr || pieces->empty() ? nullptr : pieces;
}

Result<std::optional<int64_t>> special_token(const Checkpoint& checkpoint, std::string_view key, int64_t vocabulary) {
  HR_TRY(const auto id, meta_int(checkpoint, key));
  if (id && (*id < 0 || *id >= vocabulary))
    return fail(ErrorCode::kConfigValue, "key {}: token {} is outside the vocabulary of {}", key, *id, vocabulary);
  return id;
}

}  // namespace

std::vector<std::string_view> vocabulary_kinds() {
  std::vector<std::string_view> names;
  for (const KindRow& row : kKinds) names.push_back(row.name);
  return names;
}

Result<std::optional<TokenizerFacts>> tokenizer_facts(const Checkpoint& checkpoint, std::optional<int64_t> rows) {
  if (checkpoint.kind == ContainerKind::kSafetensors) return hf_tokenizer_facts(checkpoint, rows);
  HR_TRY(const auto* pieces, pieces_of(checkpoint));
  if (pieces == nullptr) return std::nullopt;
  HR_TRY(const auto kind, meta_string(checkpoint, "tokenizer.ggml.model"));
  TokenizerFacts facts{.kind = kind.value_or(""), .vocabulary = static_cast<int64_t>(pieces->size())};
  HR_TRY(facts.bos, special_token(checkpoint, "tokenizer.ggml.bos_token_id", facts.vocabulary));
  for (const std::string_view key :
       {"tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id", "tokenizer.ggml.eom_token_id"}) {
    HR_TRY(const auto id, special_token(checkpoint, key, facts.vocabulary));
    if (id && std::ranges::find(facts.eos, *id) == facts.eos.end()) facts.eos.push_back(*id);
  }
  HR_TRY(facts.add_bos, meta_bool(checkpoint, "tokenizer.ggml.add_bos_token"));
  return facts;
}

Result<std::optional<Vocabulary>> read_vocabulary(const Checkpoint& checkpoint, Warnings& warnings) {
  HR_TRY(const auto* pieces, pieces_of(checkpoint));
  if (pieces == nullptr) return std::nullopt;
  HR_TRY(const auto kind, meta_string(checkpoint, "tokenizer.ggml.model"));
  if (find_kind(kind.value_or("")) == nullptr) {
    warnings.add("tokenizer: no rule to spell pieces of kind '{}' (known: {}), so tokens are shown by id only",
                 kind.value_or(""), fmt::join(vocabulary_kinds(), ", "));
    return std::nullopt;
  }
  if (pieces->size() > kMaxPieces) {
    warnings.add("tokenizer: {} pieces, more than the {} spelt; tokens are shown by id only", pieces->size(),
                 kMaxPieces);
    return std::nullopt;
  }
  HR_TRY(auto types, piece_types(checkpoint, pieces->size()));
  return Vocabulary{.kind = *kind, .pieces = *pieces, .types = std::move(types)};
}

std::string piece_bytes(const Vocabulary& vocabulary, int64_t id) {
  HR_CHECK(id >= 0 && static_cast<size_t>(id) < vocabulary.pieces.size());
  const std::string& piece = vocabulary.pieces[static_cast<size_t>(id)];
  switch (vocabulary.types[static_cast<size_t>(id)]) {
    case PieceType::kByte:
      if (const auto byte = byte_of(piece)) return {*byte};
      return piece;
    case PieceType::kNormal:
      if (const KindRow* row = find_kind(vocabulary.kind)) return row->decode(piece);
      return piece;
    case PieceType::kUnknown:
    case PieceType::kControl:
    case PieceType::kUserDefined:
    case PieceType::kUnused:
      return piece;
  }
  return piece;
}

// Written by hand, not through a JSON tree, to hold a vocabulary of 262,144 pieces once. A piece that is not UTF-8,
// which JSON cannot spell, is an array of its bytes.
std::string to_json(const Vocabulary& vocabulary) {
  std::string out = fmt::format("{{\n\"format\": \"{}\",\n\"version\": {},\n\"kind\": {},\n\"pieces\": [", kFormat,
                                kFileVersion, nlohmann::json(vocabulary.kind).dump());
  const char* separator = "\n";
  for (const std::string& piece : vocabulary.pieces) {
    out += separator;
    try {
      out += nlohmann::json(piece).dump();
    } catch (const nlohmann::json::type_error&) {
      const std::span bytes(reinterpret_cast<const uint8_t*>(piece.data()), piece.size());
      out += fmt::format("[{}]", fmt::join(bytes, ", "));
    }
    separator = ",\n";
  }
  out += "\n],\n\"types\": [";
  separator = "";
  for (const PieceType type : vocabulary.types) {
    out += fmt::format("{}{}", separator, static_cast<int>(type));
    separator = ",";
  }
  return out + "]\n}\n";
}

namespace {

Result<std::string> parse_piece(const nlohmann::json& item, size_t id) {
  if (item.is_string()) return item.get<std::string>();
  std::string piece;
  if (!item.is_array()) return fail(ErrorCode::kVocabulary, "vocabulary: piece {} is neither a string nor bytes", id);
  for (const auto& byte : item) {
    if (!byte.is_number_unsigned() || byte.get<uint64_t>() > 255)
      return fail(ErrorCode::kVocabulary, "vocabulary: piece {} holds an item that is not a byte", id);
    piece += static_cast<char>(byte.get<uint8_t>());
  }
  return piece;
}

Result<PieceType> parse_type(const nlohmann::json& item, size_t id) {
  if (item.is_number_unsigned() && item.get<uint64_t>() >= 1 && item.get<uint64_t>() <= 6)
    return static_cast<PieceType>(item.get<uint8_t>());
  return fail(ErrorCode::kVocabulary, "vocabulary: type of piece {} is not a number from 1 to 6", id);
}

}  // namespace

Result<Vocabulary> parse_vocabulary(std::string_view text) {
  // A vocabulary nests two levels; deeper text is cut here, so that no input can exhaust the stack.
  const auto shallow = [](int depth, nlohmann::json::parse_event_t, nlohmann::json&) { return depth <= 4; };
  const auto root = nlohmann::json::parse(text, shallow, /*allow_exceptions=*/false);
  if (!root.is_object()) return fail(ErrorCode::kVocabulary, "vocabulary: not a JSON object");
  if (root.value("format", nlohmann::json()) != kFormat || root.value("version", nlohmann::json()) != kFileVersion)
    return fail(ErrorCode::kVocabulary, "vocabulary: not a file of format {}, version {}", kFormat, kFileVersion);
  const auto kind = root.value("kind", nlohmann::json());
  const auto pieces = root.find("pieces");
  const auto types = root.find("types");
  if (!kind.is_string() || find_kind(kind.get<std::string>()) == nullptr)
    return fail(ErrorCode::kVocabulary, "vocabulary: kind {}, expected one of {}",
                kind.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace),
                fmt::join(vocabulary_kinds(), ", "));
  if (pieces == root.end() || !pieces->is_array() || types == root.end() || !types->is_array() ||
      pieces->size() != types->size())
    return fail(ErrorCode::kVocabulary, "vocabulary: 'pieces' and 'types' are not lists of one length");
  Vocabulary out{.kind = kind.get<std::string>(), .pieces = {}, .types = {}};
  out.pieces.reserve(pieces->size());
  out.types.reserve(pieces->size());
  for (size_t id = 0; id < pieces->size(); ++id) {
    HR_TRY(auto piece, parse_piece((*pieces)[id], id));
    HR_TRY(const auto type, parse_type((*types)[id], id));
    out.pieces.push_back(std::move(piece));
    out.types.push_back(type);
  }
  return out;
}

Result<std::optional<std::string>> vocabulary_file(const Checkpoint& checkpoint, Warnings& warnings) {
  HR_TRY(const auto vocabulary, read_vocabulary(checkpoint, warnings));
  if (!vocabulary) return std::nullopt;
  return to_json(*vocabulary);
}

}  // namespace headrace
