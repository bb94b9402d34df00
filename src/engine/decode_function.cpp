#include "engine/decode_function.h"

#include <algorithm>
#include <array>

namespace headrace {

namespace {

struct ResultName {
  std::string_view name;
  DType dtype{};
  size_t rank{};
};
// By ResultForm.
constexpr std::array kResultNames{ResultName{"logits", DType::kF32, 3}, ResultName{"last_logits", DType::kF32, 2},
                                  ResultName{"token", DType::kI32, 1}};

std::string describe(const ManifestArgument& value) {
  return fmt::format("'{}' {}{}", value.name, name(value.dtype), to_string(value.shape));
}

// Reads one function; a fault is one line without the function's name.
class FormReader {
 public:
  FormReader(const ManifestFunction& function, std::span<const EngineProgram> programs)
      : function_(function), programs_(programs) {
    out_.function = &function;
  }

  Result<DecodeFunction> read() {
    HR_TRY_STATUS(read_arguments());
    HR_TRY_STATUS(read_results());
    HR_TRY_STATUS(read_programs());
    return out_;
  }

 private:
  template <class... Args>
  tl::unexpected<Error> fault(fmt::format_string<Args...> format, Args&&... args) const {
    return fail(Error{.code = ErrorCode::kInput, .message = fmt::format(format, std::forward<Args>(args)...)}.in(
        function_.name));
  }

  Status read_arguments() {
    const auto& arguments = function_.arguments;
    if (arguments.empty() || arguments[0].name != "tokens" || arguments[0].dtype != DType::kI32 ||
        arguments[0].shape.size() != 2)
      return fault("expected its first argument to be tokens i32[1, n]");
    if (arguments[0].shape[0] != Dim(1))
      return fault("tokens are {}: only a batch of 1 can be continued", to_string(arguments[0].shape));
    for (size_t i = 1; i < arguments.size(); ++i) {
      const ManifestArgument& argument = arguments[i];
      const bool is_row = argument.dtype == DType::kI32 && argument.shape == Shape{1} && out_.cache_arguments.empty();
      if (argument.kind == ValueKind::kCache) {
        out_.cache_arguments.push_back(i);
      } else if (is_row && argument.name == "length" && !out_.has_length && !out_.has_position) {
        out_.has_length = true;
      } else if (is_row && argument.name == "position" && !out_.has_position) {
        out_.has_position = true;
      } else {
        return fault("argument {} has no place in decoding", describe(argument));
      }
    }
    return {};
  }

  Status read_results() {
    const auto& results = function_.results;
    const auto* form =
        results.empty() ? kResultNames.end() : std::ranges::find(kResultNames, results[0].name, &ResultName::name);
    if (form == kResultNames.end() || results[0].dtype != form->dtype || results[0].shape.size() != form->rank ||
        results[0].shape[0] != Dim(1))
      return fault("expected its first result to be logits f32[1, n, v], last_logits f32[1, v] or token i32[1]{}{}",
                   results.empty() ? "" : ", not ", results.empty() ? "" : describe(results[0]));
    out_.result = static_cast<ResultForm>(form - kResultNames.begin());
    for (size_t i = 1; i < results.size(); ++i) {
      if (results[i].kind != ValueKind::kCache)
        return fault("result {} has no place in decoding", describe(results[i]));
      out_.cache_results.push_back(i);
    }
    if (out_.cache_arguments.empty()) return {};
    // Result i replaces cache i, whatever the order of results.
    std::vector<size_t> paired;
    for (const size_t argument : out_.cache_arguments) {
      const auto pair = std::ranges::find(function_.state, static_cast<int64_t>(argument), &ManifestPair::argument);
      if (pair == function_.state.end() || pair->result < 1 || static_cast<size_t>(pair->result) >= results.size())
        return fault("cache {} has no result that replaces it", describe(function_.arguments[argument]));
      paired.push_back(static_cast<size_t>(pair->result));
    }
    if (paired.size() != out_.cache_results.size())
      return fault("{} caches, {} results for them", paired.size(), out_.cache_results.size());
    out_.cache_results = std::move(paired);
    return {};
  }

  Status read_programs() {
    const Dim& length = function_.arguments[0].shape[1];
    for (const EngineProgram& program : programs_) {
      if (program.function != function_.name) continue;
      out_.state_inside = program.state_inside;
      const Dim known = substitute(length, program.symbols);
      if (known.is_static()) {
        out_.lengths.push_back(known.value());
        continue;
      }
      const auto bound = std::ranges::find_if(
          function_.symbols, [&](const ManifestSymbol& symbol) { return length == Dim::symbol(symbol.name); });
      if (bound == function_.symbols.end()) return fault("tokens are {}, expected one symbol", to_string(known));
      out_.any_up_to = bound->max;
    }
    std::ranges::sort(out_.lengths);
    return {};
  }

  const ManifestFunction& function_;
  std::span<const EngineProgram> programs_;
  DecodeFunction out_;
};

}  // namespace

Result<std::optional<DecodeFunction>> find_decode_function(const Manifest& manifest,
                                                           std::span<const EngineProgram> programs,
                                                           std::string_view function) {
  const ManifestFunction* found = manifest.find(function);
  if (found == nullptr || std::ranges::find(programs, function, &EngineProgram::function) == programs.end())
    return std::nullopt;
  HR_TRY(DecodeFunction form, FormReader(*found, programs).read());
  return form;
}

Result<int64_t> vocabulary_of(const Manifest& manifest) {
  std::vector<int64_t> known;
  if (manifest.tokenizer) known.push_back(manifest.tokenizer->vocabulary);
  for (const ManifestFunction& function : manifest.functions) {
    for (const ManifestResult& result : function.results) {
      const bool is_row = (result.name == "logits" || result.name == "last_logits") && !result.shape.empty();
      if (is_row && result.shape.back().is_static()) known.push_back(result.shape.back().value());
    }
  }
  if (known.empty()) return fail(ErrorCode::kInput, "the manifest does not say how large the vocabulary is");
  return *std::ranges::min_element(known);
}

Status check_token(int64_t token, int64_t position, int64_t vocabulary) {
  if (token >= 0 && token < vocabulary) return {};
  return fail(ErrorCode::kInput, "token {} at position {} is outside the vocabulary, expected 0 to {}", token, position,
              vocabulary - 1);
}

Result<int64_t> cache_capacity(const Manifest& manifest, std::string_view function) {
  if (!manifest.kv || manifest.kv->capacity < 1)
    return fail(ErrorCode::kInput, "{}: the manifest does not say how much its caches hold", function);
  return manifest.kv->capacity;
}

}  // namespace headrace
