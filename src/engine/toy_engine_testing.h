// An engine that is a toy: its cache holds the text itself, and the next token is a function of it.
#pragma once

#include <limits>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "base/testing.h"
#include "engine/decoder.h"

namespace headrace::testing {

inline constexpr int64_t kVocabulary = 50;
inline constexpr int64_t kCapacity = 20;

inline int64_t next_of(std::span<const int64_t> text) {
  return (std::accumulate(text.begin(), text.end(), int64_t{3}) * 7 + static_cast<int64_t>(text.size())) % kVocabulary;
}

inline std::vector<int64_t> continuation_of(std::vector<int64_t> text, int count) {
  const size_t prompt = text.size();
  for (int i = 0; i < count; ++i) text.push_back(next_of(text));
  return {text.begin() + static_cast<std::ptrdiff_t>(prompt), text.end()};
}

inline const ManifestArgument kTokens{.name = "tokens", .dtype = DType::kI32, .shape = {1, Dim::symbol("seq")}};
inline const ManifestArgument kOneToken{.name = "tokens", .dtype = DType::kI32, .shape = {1, 1}};
inline const ManifestArgument kLength{.name = "length", .dtype = DType::kI32, .shape = {1}};
inline const ManifestArgument kPosition{.name = "position", .dtype = DType::kI32, .shape = {1}};
inline const ManifestArgument kCache{
    .name = "cache.0.k", .kind = ValueKind::kCache, .dtype = DType::kF32, .shape = {1, 1, kCapacity, 1}};
inline const ManifestSymbol kSeq{.name = "seq", .min = 1, .max = 64};

inline ManifestResult result_of(const std::string& form) {
  if (form == "token") return {.name = form, .dtype = DType::kI32, .shape = {1}};
  if (form == "last_logits") return {.name = form, .dtype = DType::kF32, .shape = {1, kVocabulary}};
  return {.name = form, .dtype = DType::kF32, .shape = {1, Dim::symbol("seq"), kVocabulary}};
}

inline ManifestFunction function_of(const std::string& name, const std::string& form) {
  if (name == "prefill")
    return {.name = name, .symbols = {kSeq}, .arguments = {kTokens, kLength}, .results = {result_of(form), kCache}};
  if (name == "chunk")
    return {.name = name,
            .symbols = {kSeq},
            .arguments = {kTokens, kLength, kPosition, kCache},
            .results = {result_of(form), kCache},
            .state = {{3, 1}}};
  if (name == "decode")
    return {.name = name,
            .arguments = {kOneToken, kPosition, kCache},
            .results = {result_of(form == "logits" ? "last_logits" : form), kCache},
            .state = {{2, 1}}};
  return {.name = name, .symbols = {kSeq}, .arguments = {kTokens}, .results = {result_of("logits")}};
}

class ToyBuffer final : public DeviceBuffer {
 public:
  explicit ToyBuffer(HostTensor<float> value) : DeviceBuffer(value.dtype(), value.sizes()), tensor(std::move(value)) {}
  HostTensor<float> tensor;
};

class ToyEngine final : public Engine<float> {
 public:
  ToyEngine(Manifest manifest, std::vector<EngineProgram> programs)
      : Engine(std::move(manifest), std::move(programs)) {}
  std::vector<std::string> calls = {};     // "prefill 8": a function and its sequence length
  std::vector<std::string> prepared = {};  // likewise
  int reads = 0;
  std::string broken = {};  // a function that fails
  bool gives_nan = false;

  [[nodiscard]] std::string_view name() const override { return "toy"; }
  Result<BufferPtr> upload(const HostTensor<float>& tensor) override { return std::make_shared<ToyBuffer>(tensor); }
  Result<HostTensor<float>> read(const DeviceBuffer& buffer) override {
    ++reads;
    return dynamic_cast<const ToyBuffer&>(buffer).tensor;
  }

 protected:
  Status do_prepare(const EngineProgram& program) override {
    prepared.push_back(program.function + (program.symbols.empty() ? "" : " " + length_of(program)));
    return {};
  }

  Result<std::vector<BufferPtr>> do_run(const EngineProgram& program, const SymbolValues& symbols,
                                        std::span<const EngineArgument> arguments) override {
    const ManifestFunction& function = *manifest().find(program.function);
    if (program.function == broken) return fail(ErrorCode::kEngine, "broken");
    const auto value = [&](std::string_view wanted) -> const HostTensor<float>* {
      for (size_t i = 0; i < arguments.size(); ++i)
        if (function.arguments[i].name == wanted) return &dynamic_cast<const ToyBuffer&>(*arguments[i].buffer).tensor;
      return nullptr;
    };
    const auto ids = value("tokens")->ints();
    calls.push_back(fmt::format("{} {}", program.function, ids.size()));
    std::vector<int64_t> text;
    if (const auto* cache = value("cache.0.k"))
      for (int64_t i = 0; i < value("position")->ints()[0]; ++i)
        text.push_back(static_cast<int64_t>(cache->floats()[static_cast<size_t>(i)]));
    const size_t count = value("length") ? static_cast<size_t>(value("length")->ints()[0]) : ids.size();
    std::vector<std::vector<int64_t>> rows;
    for (size_t i = 0; i < ids.size(); ++i) {
      if (i < count) text.push_back(ids[i]);
      rows.push_back(text);
      if (function.name == "score") rows.back() = std::vector<int64_t>(ids.begin(), ids.begin() + long(i) + 1);
    }
    std::vector<BufferPtr> out{result(function.results[0], symbols, rows, count)};
    if (function.results.size() == 1) return out;
    HostTensor<float> cache(DType::kF32, {1, 1, kCapacity, 1});
    std::ranges::copy(text, cache.mutable_floats().begin());
    out.push_back(std::make_shared<ToyBuffer>(std::move(cache)));
    return out;
  }

 private:
  static std::string length_of(const EngineProgram& program) { return std::to_string(program.symbols.at("seq")); }

  BufferPtr result(const ManifestResult& said, const SymbolValues& symbols,
                   const std::vector<std::vector<int64_t>>& rows, size_t count) const {
    HostTensor<float> out(said.dtype, static_sizes(substitute(said.shape, symbols)));
    if (said.name == "token") {
      out.mutable_ints()[0] = gives_nan ? -1 : next_of(rows[count - 1]);
      return std::make_shared<ToyBuffer>(std::move(out));
    }
    const bool all = said.name == "logits";
    for (size_t i = 0; i < (all ? rows.size() : 1); ++i) {
      const auto next = static_cast<size_t>(next_of(all ? rows[i] : rows[count - 1]));
      out.mutable_floats()[i * kVocabulary + next] = gives_nan ? std::numeric_limits<float>::quiet_NaN() : 1.0F;
    }
    return std::make_shared<ToyBuffer>(std::move(out));
  }
};

struct ToyExport {
  std::vector<std::string> functions{"prefill", "chunk", "decode"};
  std::string form{"last_logits"};
  std::vector<int64_t> lengths{4, 8};  // of prefill, chunk and score; empty: any

  [[nodiscard]] std::shared_ptr<ToyEngine> make() const {
    Manifest manifest;
    std::vector<EngineProgram> programs;
    for (const std::string& function : functions) {
      manifest.functions.push_back(function_of(function, form));
      if (function == "decode" || lengths.empty()) programs.push_back({.function = function});
      if (function == "decode") continue;
      for (const int64_t length : lengths) programs.push_back({.function = function, .symbols = {{"seq", length}}});
    }
    manifest.kv.emplace().capacity = kCapacity;
    manifest.tokenizer = ManifestTokenizer{.kind = "toy", .vocabulary = kVocabulary};
    return std::make_shared<ToyEngine>(std::move(manifest), std::move(programs));
  }
};

}  // namespace headrace::testing
