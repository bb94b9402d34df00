#include "tools/function_inputs.h"

#include <algorithm>

#include "interp/host_bytes.h"
#include "tools/text.h"
#include "tools/usage.h"

namespace headrace::tools {
namespace {

constexpr std::string_view kAllCaches = "caches";
constexpr std::string_view kZeros = "zeros";
// Far beyond any cache, and an end to sizes that a manifest makes up.
constexpr int64_t kMaxElements = int64_t{1} << 32;

bool is_integers(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789,-") == std::string_view::npos;
}

template <class F>
Result<HostTensor<F>> zeros(const ManifestFunction& function, const ManifestArgument& argument) {
  // A cache that grows begins with nothing in it.
  const Shape shape = substitute(argument.shape, {{"past", 0}});
  const auto count = elements(shape);
  if (!count || *count > kMaxElements)
    return fail(ErrorCode::kInput, "{}: '{}' is {}: its sizes are not known, give a .npy file", function.name,
                argument.name, to_string(argument.shape));
  return HostTensor<F>(argument.dtype, static_sizes(shape));
}

// Whole numbers, in the argument's sizes if they are known, else as one row.
template <class F>
Result<HostTensor<F>> numbers(const ManifestFunction& function, const ManifestArgument& argument,
                              const std::vector<int64_t>& values) {
  const auto count = static_cast<int64_t>(values.size());
  if (is_float(argument.dtype))
    return fail(ErrorCode::kInput, "{}: '{}' is {}: give a .npy file", function.name, argument.name,
                name(argument.dtype));
  std::vector<int64_t> sizes{1, count};
  if (is_static(argument.shape)) {
    if (elements(argument.shape) != count)
      return fail(ErrorCode::kInput, "{}: {} values for '{}', expected {}", function.name, count, argument.name,
                  to_string(argument.shape));
    sizes = static_sizes(argument.shape);
  }
  HostTensor<F> out(argument.dtype, std::move(sizes));
  for (size_t i = 0; i < values.size(); ++i) {
    if (wrap_to(argument.dtype, values[i]) != values[i])
      return fail(ErrorCode::kInput, "{}: '{}': {} does not fit {}", function.name, argument.name, values[i],
                  name(argument.dtype));
    out.mutable_ints()[i] = values[i];
  }
  return out;
}

template <class F>
Result<HostTensor<F>> from_text(const ManifestFunction& function, const ManifestArgument& argument,
                                const std::string& value) {
  if (value == kZeros) return zeros<F>(function, argument);
  if (is_integers(value)) return numbers<F>(function, argument, parse_tokens(value));
  return load_npy<F>(value);
}

// Every row the same ids.
template <class F>
Result<HostTensor<F>> from_tokens(const ManifestFunction& function, const ManifestArgument& argument,
                                  const std::vector<int64_t>& tokens) {
  if (argument.shape.size() != 2 || !argument.shape[0].is_static() || argument.shape[0].value() < 1 ||
      argument.shape[0].value() > kMaxElements)
    return fail(ErrorCode::kInput, "{}: tokens are {}, --tokens fills [batch, n]", function.name,
                to_string(argument.shape));
  const ManifestArgument row{.name = argument.name, .dtype = argument.dtype, .shape = {1, Dim::symbol("n")}};
  HR_TRY(const HostTensor<F> one, numbers<F>(function, row, tokens));
  const int64_t rows = argument.shape[0].value();
  if (rows == 1) return one;
  HostTensor<F> out(argument.dtype, {rows, one.elements()});
  for (int64_t r = 0; r < rows; ++r)
    std::ranges::copy(one.ints(), out.mutable_ints().subspan(static_cast<size_t>(r * one.elements())).begin());
  return out;
}

std::string names_of(const std::vector<ManifestArgument>& arguments) {
  std::vector<std::string> out;
  out.reserve(arguments.size());
  for (const ManifestArgument& argument : arguments) out.push_back(argument.name);
  return fmt::format("{}", fmt::join(out, ", "));
}

}  // namespace

std::vector<NamedInput> parse_inputs(const std::vector<std::string>& texts) {
  std::vector<NamedInput> out;
  for (const std::string& text : texts) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
      wrong_usage("--input: '{}' is not NAME=VALUE", printable(text));
    NamedInput input{.name = text.substr(0, equals), .value = text.substr(equals + 1)};
    if (std::ranges::find(out, input.name, &NamedInput::name) != out.end())
      wrong_usage("--input: '{}' is given twice", printable(input.name));
    out.push_back(std::move(input));
  }
  return out;
}

template <class F>
Result<std::vector<HostTensor<F>>> function_inputs(const ManifestFunction& function,
                                                   const std::optional<std::vector<int64_t>>& tokens,
                                                   const std::vector<NamedInput>& named) {
  for (const NamedInput& input : named) {
    const bool known =
        input.name == kAllCaches ||
        std::ranges::find(function.arguments, input.name, &ManifestArgument::name) != function.arguments.end();
    if (!known)
      return fail(ErrorCode::kInput, "function '{}' has no argument '{}' (arguments: {})", function.name,
                  printable(input.name), names_of(function.arguments));
  }
  const auto text_for = [&](const ManifestArgument& argument) -> const std::string* {
    auto found = std::ranges::find(named, argument.name, &NamedInput::name);
    if (found == named.end() && argument.kind == ValueKind::kCache)
      found = std::ranges::find(named, kAllCaches, &NamedInput::name);
    return found == named.end() ? nullptr : &found->value;
  };
  std::vector<HostTensor<F>> out;
  for (const ManifestArgument& argument : function.arguments) {
    if (const std::string* text = text_for(argument)) {
      HR_TRY(HostTensor<F> value, from_text<F>(function, argument, *text));
      out.push_back(std::move(value));
    } else if (argument.name == "tokens" && tokens) {
      HR_TRY(HostTensor<F> value, from_tokens<F>(function, argument, *tokens));
      out.push_back(std::move(value));
    } else if (argument.name == "length" && tokens && is_static(argument.shape)) {
      const auto count = static_cast<size_t>(std::clamp<int64_t>(elements(argument.shape).value_or(0), 0, 1 << 20));
      HR_TRY(HostTensor<F> value,
             numbers<F>(function, argument, std::vector(count, static_cast<int64_t>(tokens->size()))));
      out.push_back(std::move(value));
    } else {
      return fail(ErrorCode::kInput, "function '{}' takes {}; '{}' has no value (--input {}=...)", function.name,
                  names_of(function.arguments), argument.name,
                  argument.kind == ValueKind::kCache ? kAllCaches : std::string_view(argument.name));
    }
  }
  return out;
}

template Result<std::vector<HostTensor<float>>> function_inputs(const ManifestFunction&,
                                                                const std::optional<std::vector<int64_t>>&,
                                                                const std::vector<NamedInput>&);
template Result<std::vector<HostTensor<double>>> function_inputs(const ManifestFunction&,
                                                                 const std::optional<std::vector<int64_t>>&,
                                                                 const std::vector<NamedInput>&);

}  // namespace headrace::tools
