#include "tokenizer/hf_tokenizer.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tokenizer/bpe.h"
#include "tokenizer/byte_alphabet.h"
#include "tokenizer/hf_components.h"
#include "tokenizer/hf_json.h"
#include "tokenizer/hf_member.h"
#include "tokenizer/tokenizer_parts.h"
#include "tokenizer/unigram.h"

namespace headrace {
namespace {

using Json = nlohmann::json;

constexpr int64_t kMostIds = 1'000'000;
constexpr size_t kLongestAddedToken = 1024;  // bytes; bounds the search for them

Result<MergeTable> ranked_merges(const std::vector<std::string>& merges, const PieceIndex& index) {
  MergeTable table(merges.size() / 2);
  std::string joined;
  // Of equal merges the last one counts, so it is the first to be added.
  for (size_t rank = merges.size() / 2; rank-- > 0;) {
    const std::string& left = merges[2 * rank];
    const std::string& right = merges[2 * rank + 1];
    joined.assign(left).append(right);
    const int32_t ids[] = {index.find(left), index.find(right), index.find(joined)};
    if (std::ranges::min(ids) < 0)
      return fail(ErrorCode::kConfigValue, "model.merges: merge {} '{} {}': '{}' is not in model.vocab", rank, left,
                  right,
                  ids[0] < 0   ? left
                  : ids[1] < 0 ? right
                               : joined);
    table.add(ids[0], ids[1], {.rank = static_cast<uint32_t>(rank), .id = ids[2]});
  }
  return table;
}

class HfBuilder {
 public:
  explicit HfBuilder(const HfTokenizerJson& json)
      : json_(json), root_(json_.root, "tokenizer"), parts_(std::make_shared<TokenizerParts>()) {}

  Result<Tokenizer> run(const HfFrame& frame) {
    HR_TRY_STATUS(root_.only({"version", "truncation", "padding", "added_tokens", "normalizer", "pre_tokenizer",
                              "post_processor", "decoder", "model"}));
    if (!root_.member("model").is_object()) return fail(ErrorCode::kConfigValue, "model is not an object");
    const HfStep model(root_.member("model"), "model");
    // Files before version 0.10 have no type where it shows from the members.
    HR_TRY(const std::string type, model.text("type", json_.scored ? "Unigram" : "BPE"));
    if (type != "BPE" && type != "Unigram") return model.unknown(type);
    HR_TRY_STATUS(set_vocabulary(type));
    HR_TRY(parts_->normalizers, make_hf_normalizers(root_.member("normalizer")));
    HR_TRY_STATUS(set_added());
    HR_TRY(HfPretokenizer pretokenizer, make_hf_pretokenizer(root_.member("pre_tokenizer")));
    parts_->splitters = std::move(pretokenizer.stages);
    HR_TRY_STATUS(type == "BPE" ? set_bpe(model, pretokenizer.byte_level)
                                : set_unigram(model, pretokenizer.byte_level));
    HR_TRY_STATUS(set_frame(root_.member("post_processor")));
    if (Status framed = apply(frame); !framed) parts_->refused = std::move(framed).error();
    HR_TRY(parts_->decoder, make_hf_decoder(root_.member("decoder")));
    return Tokenizer(std::move(parts_));
  }
  // Whether the frame is another than tokenizer.json alone would make.
  [[nodiscard]] bool reframed() const { return reframed_; }

 private:
  // A token that tokenizer_config.json names.
  Result<int64_t> config_token(std::string_view name, const std::string& text) const {
    const int32_t id = parts_->index.find(text);
    if (id >= 0) return id;
    return fail(ErrorCode::kConfigValue, "tokenizer_config.json: {} '{}' is not in the vocabulary", name, text);
  }

  Status apply(const HfFrame& frame) {
    if (const int32_t id = parts_->index.find(frame.bos); id >= 0) parts_->bos = id;
    if (frame.decides) {
      std::vector<int64_t> prefix;
      std::vector<int64_t> suffix;
      if (frame.add_bos.value_or(true)) {
        HR_TRY(prefix.emplace_back(), config_token("bos_token", frame.bos));
      }
      if (frame.add_eos.value_or(false)) {
        HR_TRY(suffix.emplace_back(), config_token("eos_token", frame.eos));
      }
      reframed_ = prefix != parts_->prefix || suffix != parts_->suffix;
      parts_->prefix = std::move(prefix);
      parts_->suffix = std::move(suffix);
      return {};
    }
    const auto contradicts = [](const std::optional<bool>& says, bool is) { return says && *says != is; };
    const auto holds = [&](const std::vector<int64_t>& ids, const std::string& token) {
      return std::ranges::find(ids, int64_t{parts_->index.find(token)}) != ids.end();
    };
    for (const auto& [name, says, is] : {std::tuple{"add_bos_token", frame.add_bos, holds(parts_->prefix, frame.bos)},
                                         {"add_eos_token", frame.add_eos, holds(parts_->suffix, frame.eos)}})
      if (contradicts(says, is))
        return fail(ErrorCode::kConfigValue,
                    "tokenizer_config.json: {} is {}, and the post_processor of tokenizer.json says otherwise", name,
                    *says);
    return {};
  }

  Status set_vocabulary(const std::string& type) {
    if (json_.scored != (type == "Unigram"))
      return fail(ErrorCode::kConfigValue, "model.vocab: {}, expected {}",
                  json_.scored ? "pieces with scores" : "pieces with ids",
                  json_.scored ? "pieces with ids" : "pieces with scores");
    if (json_.vocabulary.empty()) return fail(ErrorCode::kConfigValue, "model.vocab: no pieces");
    std::vector<std::string>& pieces = parts_->model_pieces;
    for (size_t i = 0; i < json_.vocabulary.size(); ++i) {
      const auto& [piece, number] = json_.vocabulary[i];
      const double id = json_.scored ? static_cast<double>(i) : number;
      if (id < 0 || id >= static_cast<double>(kMostIds) || id != std::floor(id))
        return fail(ErrorCode::kConfigValue, "model.vocab: piece '{}' has id {}, expected an integer below {}", piece,
                    id, kMostIds);
      const auto at = static_cast<size_t>(id);
      if (at >= pieces.size()) pieces.resize(at + 1);
      if (!pieces[at].empty())
        return fail(ErrorCode::kConfigValue, "model.vocab: id {} stands for '{}' and for '{}'", at, pieces[at], piece);
      pieces[at] = piece;
    }
    model_index_ = PieceIndex(pieces);
    if (const auto twice = model_index_.duplicate())
      return fail(ErrorCode::kConfigValue, "model.vocab: piece '{}' stands twice", pieces[static_cast<size_t>(*twice)]);
    parts_->pieces = pieces;
    return {};
  }

  static Result<AddedToken> added_token(const Json& json, size_t index, bool& normalized) {
    const HfStep step(json, fmt::format("added_tokens[{}]", index));
    if (!json.is_object()) return fail(ErrorCode::kConfigValue, "{}: not an object", step.place());
    HR_TRY_STATUS(step.only({"id", "content", "single_word", "lstrip", "rstrip", "normalized", "special"}));
    AddedToken token;
    HR_TRY(token.id, step.integer("id", 0, kMostIds - 1));
    HR_TRY(token.text, step.text("content"));
    HR_TRY(token.single_word, step.boolean("single_word", false));
    HR_TRY(token.lstrip, step.boolean("lstrip", false));
    HR_TRY(token.rstrip, step.boolean("rstrip", false));
    HR_TRY(token.special, step.boolean("special", false));
    HR_TRY(normalized, step.boolean("normalized", !token.special));
    if (token.text.size() > kLongestAddedToken)
      return fail(ErrorCode::kConfigUnsupported, "{}: content of {} bytes, more than {}", step.place(),
                  token.text.size(), kLongestAddedToken);
    return token;
  }

  Status place_piece(const AddedToken& token) {
    const auto id = static_cast<size_t>(token.id);
    if (const int32_t known = model_index_.find(token.text); known >= 0 && known != token.id)
      return fail(ErrorCode::kConfigValue, "added_tokens: '{}' has id {}, and {} in model.vocab", token.text, token.id,
                  known);
    if (id >= parts_->pieces.size()) parts_->pieces.resize(id + 1);
    if (!parts_->pieces[id].empty() && parts_->pieces[id] != token.text)
      return fail(ErrorCode::kConfigValue, "added_tokens: '{}' has id {}, which stands for '{}'", token.text, id,
                  parts_->pieces[id]);
    parts_->pieces[id] = token.text;
    return {};
  }

  Status set_added() {
    const Json& list = root_.member("added_tokens");
    if (!list.is_array() && !list.is_null()) return fail(ErrorCode::kConfigValue, "added_tokens is not a list");
    std::vector<AddedToken> plain;
    std::vector<AddedToken> normalized;
    std::vector<std::pair<size_t, PieceType>> types;
    for (size_t i = 0; i < list.size(); ++i) {
      bool wants_normal = false;
      HR_TRY(AddedToken token, added_token(list[i], i, wants_normal));
      if (token.text.empty()) continue;
      HR_TRY_STATUS(place_piece(token));
      types.emplace_back(token.id, token.special ? PieceType::kControl : PieceType::kUserDefined);
      // A token that wants a normal text is looked for there in its own normal form.
      for (size_t n = 0; wants_normal && n < parts_->normalizers.size(); ++n) {
        HR_TRY(token.text, parts_->normalizers[n]->apply(token.text));
      }
      (wants_normal ? normalized : plain).push_back(std::move(token));
    }
    parts_->types.assign(parts_->pieces.size(), PieceType::kNormal);
    for (const auto& [id, type] : types) parts_->types[id] = type;
    parts_->index = PieceIndex(parts_->pieces);
    if (const auto twice = parts_->index.duplicate())
      return fail(ErrorCode::kConfigValue, "added_tokens: '{}' stands twice",
                  parts_->pieces[static_cast<size_t>(*twice)]);
    parts_->added = AddedTokens(std::move(plain), AddedTokens::Order::kLeftmostLongest);
    parts_->added_normalized = AddedTokens(std::move(normalized), AddedTokens::Order::kLeftmostLongest);
    return {};
  }

  // The tokens of all bytes, `<0x00>` to `<0xFF>`.
  Result<std::array<int32_t, 256>> byte_ids() const {
    std::array<int32_t, 256> ids{};
    for (unsigned byte = 0; byte < 256; ++byte) {
      const std::string piece = piece_of_byte(static_cast<unsigned char>(byte));
      ids[byte] = model_index_.find(piece);
      if (ids[byte] < 0)
        return fail(ErrorCode::kConfigValue, "model.byte_fallback is true, and '{}' is not in model.vocab", piece);
    }
    return ids;
  }

  Result<SymbolFallback> fallback_of(const HfStep& model) const {
    SymbolFallback fallback{.before_merging = true};
    HR_TRY(fallback.fuse_unknown, model.boolean("fuse_unk", false));
    HR_TRY(fallback.use_bytes, model.boolean("byte_fallback", false));
    if (fallback.use_bytes) {
      HR_TRY(fallback.byte_ids, byte_ids());
    }
    HR_TRY(const std::string unknown, model.text("unk_token", ""));
    if (unknown.empty()) return fallback;
    const int32_t id = model_index_.find(unknown);
    if (id < 0) return fail(ErrorCode::kConfigValue, "model.unk_token: '{}' is not in model.vocab", unknown);
    fallback.unknown = id;
    return fallback;
  }

  Status set_bpe(const HfStep& model, bool byte_level) {
    HR_TRY_STATUS(model.only({"dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix", "fuse_unk",
                              "byte_fallback", "ignore_merges", "vocab", "merges"}));
    for (const char* name : {"continuing_subword_prefix", "end_of_word_suffix"}) {
      HR_TRY(const std::string value, model.text(name, ""));
      if (!value.empty()) return fail(ErrorCode::kConfigUnsupported, "model.{}: '{}' is not supported", name, value);
    }
    if (const Json& dropout = model.member("dropout"); !dropout.is_null() && dropout != Json(0))
      return fail(ErrorCode::kConfigUnsupported, "model.dropout: {} is not supported", dropout.dump());
    HR_TRY(const bool whole_words, model.boolean("ignore_merges", false));
    HR_TRY(const SymbolFallback fallback, fallback_of(model));
    HR_TRY(MergeTable merges, ranked_merges(json_.merges, model_index_));
    return byte_level ? set_byte_bpe(whole_words, fallback, std::move(merges))
                      : set_character_bpe(whole_words, fallback, std::move(merges));
  }

  Status set_byte_bpe(bool whole_words, const SymbolFallback& fallback, MergeTable merges) {
    for (std::string& piece : parts_->model_pieces) piece = from_byte_alphabet(piece).value_or("");
    ByteBpeSpec spec{.byte_pieces = parts_->model_pieces,
                     .index = PieceIndex(parts_->model_pieces),
                     .merges = std::move(merges),
                     .whole_words = whole_words,
                     .fallback = fallback};
    const bool falls_back = std::exchange(spec.fallback.use_bytes, false);
    for (unsigned byte = 0; byte < 256; ++byte) {
      const char alone = static_cast<char>(byte);
      spec.fallback.byte_ids[byte] = spec.index.find(std::string_view(&alone, 1));
      if (spec.fallback.byte_ids[byte] < 0 && falls_back)
        return fail(ErrorCode::kConfigUnsupported,
                    "model.byte_fallback with 'ByteLevel' and no piece for byte {} is not supported", byte);
    }
    parts_->model = make_byte_bpe(std::move(spec));
    return {};
  }

  Status set_character_bpe(bool whole_words, const SymbolFallback& fallback, MergeTable merges) {
    parts_->model_index = std::move(model_index_);
    parts_->model = make_character_bpe({.pieces = parts_->model_pieces,
                                        .index = &parts_->model_index,
                                        .merges = std::move(merges),
                                        .ranks = {},
                                        .whole_words = whole_words,
                                        .fallback = fallback});
    return {};
  }

  Status set_unigram(const HfStep& model, bool byte_level) {
    HR_TRY_STATUS(model.only({"unk_id", "vocab", "byte_fallback"}));
    if (byte_level) return fail(ErrorCode::kConfigUnsupported, "model: 'Unigram' with 'ByteLevel' is not supported");
    UnigramSpec spec;
    HR_TRY(const int64_t unknown, model.integer("unk_id", 0, static_cast<int64_t>(json_.vocabulary.size()) - 1));
    spec.unknown = static_cast<int32_t>(unknown);
    spec.unknown_piece = parts_->model_pieces[static_cast<size_t>(unknown)];
    HR_TRY(const bool byte_fallback, model.boolean("byte_fallback", false));
    if (byte_fallback) {
      HR_TRY(spec.byte_ids, byte_ids());
    }
    double least = std::numeric_limits<double>::infinity();
    for (size_t id = 0; id < json_.vocabulary.size(); ++id) {
      const auto& [piece, score] = json_.vocabulary[id];
      spec.scores.push_back(score);
      least = std::min(least, score);
      if (!piece.empty()) spec.pieces.add(piece, static_cast<int32_t>(id));
    }
    constexpr double kUnknownPenalty = 10;
    spec.unknown_score = least - kUnknownPenalty;
    parts_->model = make_unigram(std::move(spec));
    return {};
  }

  // What the post-processor puts around one text.
  Status set_frame(const Json& json) {
    return for_each_step(
        json, "post_processor", "processors", [&](const HfStep& step, const std::string& type) -> Status {
          if (type == "ByteLevel") return {};  // changes offsets only
          if (!parts_->prefix.empty() || !parts_->suffix.empty())
            return fail(ErrorCode::kConfigUnsupported, "{}: a second '{}' is not supported", step.place(), type);
          if (type == "TemplateProcessing") return set_template(step);
          if (type == "RobertaProcessing" || type == "BertProcessing") return set_cls_sep(step);
          return step.unknown(type);
        });
  }

  Status set_cls_sep(const HfStep& step) {
    for (const auto& [name, ids] : {std::pair{"cls", &parts_->prefix}, {"sep", &parts_->suffix}}) {
      const Json& pair = step.member(name);
      if (!pair.is_array() || pair.size() != 2 || !pair[1].is_number_unsigned())
        return fail(ErrorCode::kConfigValue, "{}: {} is no pair of a token and its id", step.place(), name);
      HR_TRY_STATUS(add_id(step, pair[1], *ids));
    }
    return {};
  }

  Status add_id(const HfStep& step, const Json& id, std::vector<int64_t>& ids) const {
    if (!id.is_number_unsigned() || id.get<uint64_t>() >= parts_->pieces.size())
      return fail(ErrorCode::kConfigValue, "{}: token {} is outside the vocabulary of {}", step.place(), id.dump(),
                  parts_->pieces.size());
    ids.push_back(id.get<int64_t>());
    return {};
  }

  Status set_template(const HfStep& step) {
    HR_TRY_STATUS(step.only({"single", "pair", "special_tokens"}));
    const Json& items = step.member("single");
    bool seen_text = false;
    for (size_t i = 0; items.is_array() && i < items.size(); ++i) {
      const Json& item = items[i];
      if (item.is_object() && item.contains("Sequence") && !seen_text) {
        seen_text = true;
      } else if (item.is_object() && item.contains("SpecialToken")) {
        HR_TRY_STATUS(add_special(step, item["SpecialToken"], seen_text ? parts_->suffix : parts_->prefix));
      } else {
        return fail(ErrorCode::kConfigValue, "{}: single[{}] is neither a SpecialToken nor the one Sequence",
                    step.place(), i);
      }
    }
    if (!seen_text) return fail(ErrorCode::kConfigValue, "{}: single has no Sequence", step.place());
    return {};
  }

  Status add_special(const HfStep& step, const Json& token, std::vector<int64_t>& ids) const {
    const std::string name = token.is_object() ? token.value("id", Json("")).dump() : "";
    const Json& all = step.member("special_tokens");
    const auto entry = all.is_object() && token.is_object() && token.value("id", Json()).is_string()
                           ? all.find(token["id"].get<std::string>())
                           : all.end();
    if (!all.is_object() || entry == all.end() || !entry->is_object() || !entry->value("ids", Json()).is_array())
      return fail(ErrorCode::kConfigValue, "{}: special_tokens has no ids for {}", step.place(), name);
    for (const Json& id : (*entry)["ids"]) {
      HR_TRY_STATUS(add_id(step, id, ids));
    }
    return {};
  }

  const HfTokenizerJson& json_;
  HfStep root_;
  std::shared_ptr<TokenizerParts> parts_;
  bool reframed_ = false;
  PieceIndex model_index_;  // of parts_->model_pieces
};

}  // namespace

Result<Tokenizer> parse_hf_tokenizer(std::string_view text, std::string_view place, const HfFrame& frame) {
  HR_TRY(const HfTokenizerJson json, parse_hf_tokenizer_json(text, place));
  auto tokenizer = HfBuilder(json).run(frame);
  if (!tokenizer) return fail(std::move(tokenizer).error().in(place));
  return tokenizer;
}

Result<std::string> frame_hf_tokenizer(std::string text, std::string_view place, const HfFrame& frame) {
  HR_TRY(HfTokenizerJson json, parse_hf_tokenizer_json(text, place));
  HfBuilder builder(json);
  const auto tokenizer = builder.run(frame);
  if (!tokenizer) return fail(Error(tokenizer.error()).in(place));
  if (!builder.reframed()) return text;
  const TokenizerParts& parts = tokenizer->parts();
  Json single = Json::array();
  Json tokens = Json::object();
  const auto add = [&](int64_t id) {
    const std::string& piece = parts.pieces[static_cast<size_t>(id)];
    single.push_back({{"SpecialToken", {{"id", piece}, {"type_id", 0}}}});
    tokens[piece] = {{"id", piece}, {"ids", {id}}, {"tokens", {piece}}};
  };
  for (const int64_t id : parts.prefix) add(id);
  single.push_back({{"Sequence", {{"id", "A"}, {"type_id", 0}}}});
  for (const int64_t id : parts.suffix) add(id);
  Json pair = single;
  pair.push_back({{"Sequence", {{"id", "B"}, {"type_id", 1}}}});
  json.root["post_processor"] = {{"type", "TemplateProcessing"},
                                 {"single", std::move(single)},
                                 {"pair", std::move(pair)},
                                 {"special_tokens", std::move(tokens)}};
  return to_text(json);
}

}  // namespace headrace
