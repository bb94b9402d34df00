#include <algorithm>
#include <numeric>

#include "tokenizer/bpe.h"
#include "tokenizer/byte_alphabet.h"
#include "tokenizer/gguf_fields.h"
#include "tokenizer/tokenizer_parts.h"
#include "tokenizer/unigram.h"

namespace headrace {
namespace {

constexpr std::string_view kEscapedSpace = "\xE2\x96\x81";
constexpr size_t kLongestAddedToken = 1024;  // bytes; bounds the search for them

enum class SplitsId {
#define HR_SPLITS(id, ...) id,
#include "tokenizer/pretokenizers.def"
};

std::vector<std::string_view> patterns_of(SplitsId id) {
  switch (id) {
#define HR_SPLITS(id, ...) \
  case SplitsId::id:       \
    return {__VA_ARGS__};
#include "tokenizer/pretokenizers.def"
  }
  return {};
}

struct PretokenizerRow {
  std::string_view name;
  SplitsId splits{};
  bool whole_words{};
  bool adds_bos{};
};
constexpr PretokenizerRow kPretokenizers[] = {
#define HR_PRETOKENIZER(name, splits, whole_words, adds_bos) {name, SplitsId::splits, whole_words, adds_bos},
#include "tokenizer/pretokenizers.def"
};

Result<const PretokenizerRow*> find_pretokenizer(const GgufTokenizerFields& fields) {
  if (!fields.pre)
    return fail(ErrorCode::kConfigMissing,
                "tokenizer.ggml.pre is absent: which pre-tokenizer the model was trained with is not known");
  const auto* row = std::ranges::find(kPretokenizers, *fields.pre, &PretokenizerRow::name);
  if (row == std::end(kPretokenizers))
    return fail(ErrorCode::kConfigUnsupported, "tokenizer.ggml.pre: pre-tokenizer '{}' is not supported (known: {})",
                *fields.pre, fmt::join(pretokenizer_names(), ", "));
  return row;
}

Result<MergeTable> ranked_merges(const std::vector<std::string>& merges, const PieceIndex& index) {
  MergeTable table(merges.size());
  std::string joined;
  for (size_t rank = 0; rank < merges.size(); ++rank) {
    const std::string_view merge = merges[rank];
    const size_t space = merge.find(' ', 1);  // a piece may start with one
    const std::string_view left = merge.substr(0, space);
    const std::string_view right = space == std::string_view::npos ? "" : merge.substr(space + 1);
    joined.assign(left).append(right);
    const int32_t ids[] = {index.find(left), index.find(right), index.find(joined)};
    if (std::ranges::min(ids) < 0)
      return fail(ErrorCode::kConfigValue, "tokenizer.ggml.merges: merge {} '{}': '{}' is not a piece", rank, merge,
                  ids[0] < 0   ? left
                  : ids[1] < 0 ? right
                               : std::string_view(joined));
    table.add(ids[0], ids[1], {.rank = static_cast<uint32_t>(rank), .id = ids[2]});
  }
  return table;
}

// The best score is rank 0; equal scores are equal ranks.
std::vector<uint32_t> ranks_of(const std::vector<float>& scores) {
  std::vector<uint32_t> order(scores.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, [&](uint32_t a, uint32_t b) { return scores[a] > scores[b]; });
  std::vector<uint32_t> ranks(scores.size());
  for (size_t i = 1; i < order.size(); ++i)
    ranks[order[i]] = ranks[order[i - 1]] + (scores[order[i]] < scores[order[i - 1]] ? 1 : 0);
  return ranks;
}

Result<std::array<int32_t, 256>> byte_pieces_of(const PieceIndex& index) {
  std::array<int32_t, 256> ids{};
  for (unsigned byte = 0; byte < 256; ++byte) {
    const auto value = static_cast<unsigned char>(byte);
    const char alone = static_cast<char>(value);
    int32_t id = index.find(piece_of_byte(value));
    if (id < 0) id = index.find(std::string_view(&alone, 1));
    if (id < 0)
      return fail(ErrorCode::kConfigUnsupported,
                  "tokenizer.ggml.tokens: no piece for byte '{}', and texts that need it cannot be encoded",
                  piece_of_byte(value));
    ids[byte] = id;
  }
  return ids;
}

// Ends of a text, a turn or a message, and the marks of fill-in-the-middle: control tokens.
constexpr std::string_view kControlTexts[] = {"<|eot_id|>",
                                              "<|im_end|>",
                                              "<|end|>",
                                              "<|return|>",
                                              "<|call|>",
                                              "<|flush|>",
                                              "<|calls|>",
                                              "<end_of_turn>",
                                              "<|endoftext|>",
                                              "</s>",
                                              "<|eom_id|>",
                                              "<EOT>",
                                              "_<EOT>",
                                              "[EOT]",
                                              "[EOS]",
                                              "<|end_of_text|>",
                                              "<end_of_utterance>",
                                              "<eos>",
                                              "<turn|>",
                                              "<|tool_response>",
                                              "[e~[",
                                              "<|fim_prefix|>",
                                              "<fim-prefix>",
                                              "<fim_prefix>",
                                              "<PRE>",
                                              "<|code_prefix|>",
                                              "<|prefix|>",
                                              "<|fim_suffix|>",
                                              "<fim-suffix>",
                                              "<fim_suffix>",
                                              "<SUF>",
                                              "<|code_suffix|>",
                                              "<|suffix|>",
                                              "<|fim_middle|>",
                                              "<fim-middle>",
                                              "<fim_middle>",
                                              "<MID>",
                                              "<|code_middle|>",
                                              "<|middle|>",
                                              "<|fim_pad|>",
                                              "<fim-pad>",
                                              "<fim_pad>",
                                              "<PAD>",
                                              "[PAD]",
                                              "<|fim_repo|>",
                                              "<|repo_name|>",
                                              "<fim-repo>",
                                              "<REPO>",
                                              "<reponame>",
                                              "<|file_sep|>",
                                              "<\uff5cend\u2581of\u2581sentence\uff5c>",
                                              "<\uff5cfim\u2581begin\uff5c>",
                                              "<\uff5cfim\u2581hole\uff5c>",
                                              "<\uff5cfim\u2581end\uff5c>",
                                              "\u2581<PRE>",
                                              "\u2581<SUF>",
                                              "\u2581<MID>"};
// Parts of gpt-oss's messages, which are text to be seen.
constexpr std::string_view kSeenTexts[] = {"<|channel|>", "<|message|>", "<|start|>", "<|constrain|>"};

// Types that llama.cpp sets by a token's text, whatever the file says; its users see ids accordingly.
void settle_types(const PieceIndex& index, std::vector<PieceType>& types) {
  const auto set = [&](std::string_view piece, PieceType type) {
    if (const int32_t id = index.find(piece); id >= 0) types[static_cast<size_t>(id)] = type;
  };
  const auto has = [&](std::string_view piece) { return index.find(piece) >= 0; };
  for (const std::string_view piece : kControlTexts) set(piece, PieceType::kControl);
  for (const std::string_view piece : kSeenTexts) set(piece, PieceType::kUserDefined);
  if ((has("<|return|>") && has("<|call|>")) || ((has("<|call|>") || has("<|calls|>")) && has("<|flush|>")))
    set("<|end|>", PieceType::kUserDefined);
  if (has("<|tool_response>")) set("</s>", PieceType::kNormal);
}

class Builder {
 public:
  explicit Builder(GgufTokenizerFields fields)
      : fields_(std::move(fields)), parts_(std::make_shared<TokenizerParts>()) {}

  Tokenizer run() {
    parts_->pieces = std::move(fields_.pieces);
    parts_->types = std::move(fields_.types);
    parts_->index = PieceIndex(parts_->pieces);
    settle_types(parts_->index, parts_->types);
    parts_->bos = fields_.bos;
    for (const auto& id : {fields_.eos, fields_.eot, fields_.eom})
      if (id && std::ranges::find(parts_->ends, *id) == parts_->ends.end()) parts_->ends.push_back(*id);
    set_decoder();
    if (Status encoder = set_encoder(); !encoder) {
      parts_->refused = std::move(encoder).error();
      parts_->model.reset();
    }
    return Tokenizer(std::move(parts_));
  }

 private:
  void set_decoder() {
    parts_->verbatim_added = true;
    if (fields_.model == "gpt2") {
      parts_->decoder = {ByteLevelStep{}};
    } else if (fields_.model == "llama" || fields_.model == "t5") {
      parts_->decoder = {ReplaceStep{.from = std::string(kEscapedSpace), .to = " "}};
      if (adds_space()) parts_->decoder.emplace_back(StripTextStep{.content = " ", .start = 1});
    }
  }
  // llama.cpp's defaults by kind.
  [[nodiscard]] bool adds_space() const { return fields_.add_space_prefix.value_or(fields_.model == "llama"); }

  Status set_encoder() {
    if (const auto twice = parts_->index.duplicate()) {
      const std::string& piece = parts_->pieces[static_cast<size_t>(*twice)];
      return fail(ErrorCode::kConfigValue, "tokenizer.ggml.tokens: piece '{}' stands twice, as {} and {}", piece,
                  parts_->index.find(piece), *twice);
    }
    HR_TRY_STATUS(set_added());
    if (fields_.model == "gpt2") return set_gpt2();
    if (fields_.model == "llama") return set_llama();
    if (fields_.model == "t5") return set_t5();
    return fail(ErrorCode::kConfigUnsupported, "tokenizer.ggml.model: '{}' is not supported (known: {})", fields_.model,
                fmt::join(gguf_tokenizer_kinds(), ", "));
  }

  Status set_added() {
    std::vector<AddedToken> tokens;
    for (size_t id = 0; id < parts_->pieces.size(); ++id) {
      const PieceType type = parts_->types[id];
      const bool special = type == PieceType::kControl || type == PieceType::kUnknown;
      if (!special && type != PieceType::kUserDefined) continue;
      if (parts_->pieces[id].size() > kLongestAddedToken)
        return fail(ErrorCode::kConfigUnsupported, "tokenizer.ggml.tokens: control token {} has {} bytes, more than {}",
                    id, parts_->pieces[id].size(), kLongestAddedToken);
      tokens.push_back({.text = parts_->pieces[id], .id = static_cast<int64_t>(id), .special = special});
    }
    parts_->added = AddedTokens(std::move(tokens), AddedTokens::Order::kLongestFirst);
    return {};
  }

  Status set_frame(bool add_bos, bool add_eos) {
    if (fields_.add_bos.value_or(add_bos)) {
      if (!fields_.bos)
        return fail(ErrorCode::kConfigMissing, "tokenizer.ggml.bos_token_id is absent, and texts start with it");
      parts_->prefix = {*fields_.bos};
    }
    if (fields_.add_eos.value_or(add_eos)) {
      if (!fields_.eos)
        return fail(ErrorCode::kConfigMissing, "tokenizer.ggml.eos_token_id is absent, and texts end with it");
      parts_->suffix = {*fields_.eos};
    }
    return {};
  }

  Status set_gpt2() {
    HR_TRY(const PretokenizerRow* row, find_pretokenizer(fields_));
    for (const std::string_view pattern : patterns_of(row->splits)) {
      HR_TRY(Regex regex, Regex::compile(pattern, "tokenizer.ggml.pre"));
      parts_->splitters.emplace_back(
          SplitStage{.regex = std::move(regex), .behavior = SplitBehavior::kIsolated, .invert = false});
    }
    if (fields_.merges.empty())
      return fail(ErrorCode::kConfigMissing, "tokenizer.ggml.merges is absent, and pieces merge by it");
    HR_TRY(MergeTable merges, ranked_merges(fields_.merges, parts_->index));
    parts_->model_pieces.reserve(parts_->pieces.size());
    for (const std::string& piece : parts_->pieces)
      parts_->model_pieces.push_back(from_byte_alphabet(piece).value_or(""));
    ByteBpeSpec spec{.byte_pieces = parts_->model_pieces,
                     .index = PieceIndex(parts_->model_pieces),
                     .merges = std::move(merges),
                     .whole_words = row->whole_words,
                     .fallback = {}};
    for (unsigned byte = 0; byte < 256; ++byte) {
      const char alone = static_cast<char>(byte);
      spec.fallback.byte_ids[byte] = spec.index.find(std::string_view(&alone, 1));
    }
    parts_->model = make_byte_bpe(std::move(spec));
    return set_frame(row->adds_bos, false);
  }

  Status set_llama() {
    if (fields_.scores.empty())
      return fail(ErrorCode::kConfigMissing, "tokenizer.ggml.scores is absent, and pieces merge by it");
    CharacterBpeSpec spec{.pieces = parts_->pieces,
                          .index = &parts_->index,
                          .merges = std::nullopt,
                          .ranks = ranks_of(fields_.scores),
                          .fallback = {.use_bytes = true}};
    HR_TRY(spec.fallback.byte_ids, byte_pieces_of(parts_->index));
    parts_->model = make_character_bpe(std::move(spec));
    parts_->needs_utf8 = false;
    if (adds_space()) parts_->normalizers.push_back(make_prepend(" "));
    parts_->normalizers.push_back(make_replace(" ", std::string(kEscapedSpace)));
    return set_frame(true, false);
  }

  Status set_t5() {
    if (fields_.scores.empty())
      return fail(ErrorCode::kConfigMissing, "tokenizer.ggml.scores is absent, and pieces are chosen by it");
    if (!fields_.unknown)
      return fail(ErrorCode::kConfigMissing, "tokenizer.ggml.unknown_token_id is absent, and unknown text becomes it");
    HR_TRY(Charsmap map, Charsmap::parse(fields_.charsmap, "tokenizer.ggml.precompiled_charsmap"));
    parts_->normalizers.push_back(make_unigram_normalizer(
        std::move(map),
        {.add_prefix = adds_space(), .remove_extra = fields_.remove_extra_whitespaces.value_or(false)}));
    UnigramSpec spec;
    spec.unknown = static_cast<int32_t>(*fields_.unknown);
    float least = std::numeric_limits<float>::max();
    for (size_t id = 0; id < parts_->pieces.size(); ++id) {
      const PieceType type = parts_->types[id];
      const bool user_defined = type == PieceType::kUserDefined;
      spec.scores.push_back(user_defined ? 0.0 : static_cast<double>(fields_.scores[id]));
      if (type == PieceType::kNormal) least = std::min(least, fields_.scores[id]);
      if ((type == PieceType::kNormal || user_defined || type == PieceType::kUnused) && !parts_->pieces[id].empty())
        spec.pieces.add(parts_->pieces[id], static_cast<int32_t>(id));
    }
    constexpr float kUnknownPenalty = 10;
    spec.unknown_score = static_cast<double>(least - kUnknownPenalty);
    parts_->model = make_unigram(std::move(spec));
    return set_frame(false, true);
  }

  GgufTokenizerFields fields_;
  std::shared_ptr<TokenizerParts> parts_;
};

}  // namespace

std::vector<std::string_view> gguf_tokenizer_kinds() { return {"gpt2", "llama", "t5"}; }

std::vector<std::string_view> pretokenizer_names() {
  std::vector<std::string_view> names;
  for (const PretokenizerRow& row : kPretokenizers) names.push_back(row.name);
  return names;
}

Tokenizer make_gguf_tokenizer(GgufTokenizerFields fields) { return Builder(std::move(fields)).run(); }

}  // namespace headrace
