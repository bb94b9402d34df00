#include "engine/engine.h"

#include <algorithm>

namespace headrace {

namespace {

std::string text(const SymbolValues& symbols) {
  std::vector<std::string> parts;
  parts.reserve(symbols.size());
  for (const auto& [symbol, value] : symbols) parts.push_back(fmt::format("{} = {}", symbol, value));
  return parts.empty() ? "any sizes" : fmt::format("{}", fmt::join(parts, ", "));
}

// Every symbol of the function has a value within its bounds, and no other has one.
Status check_symbols(const ManifestFunction& function, const SymbolValues& symbols) {
  for (const ManifestSymbol& symbol : function.symbols) {
    const auto found = symbols.find(symbol.name);
    if (found == symbols.end())
      return fail(ErrorCode::kInput, "{}: symbol '{}' has no value", function.name, symbol.name);
    if (found->second < symbol.min || found->second > symbol.max)
      return fail(ErrorCode::kInput, "{}: {} is {}, expected {} to {}", function.name, symbol.name, found->second,
                  symbol.min, symbol.max);
  }
  for (const auto& [symbol, value] : symbols) {
    if (std::ranges::find(function.symbols, symbol, &ManifestSymbol::name) == function.symbols.end())
      return fail(ErrorCode::kInput, "{}: no symbol '{}'", function.name, symbol);
  }
  return {};
}

Status check_arguments(const ManifestFunction& function, const EngineProgram& program, const SymbolValues& symbols,
                       std::span<const EngineArgument> arguments) {
  const auto wanted = passed(function.arguments, program);
  if (arguments.size() != wanted.size())
    return fail(ErrorCode::kInput, "{}: {} arguments, expected {}", function.name, arguments.size(), wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i) {
    const DeviceBuffer* buffer = arguments[i].buffer.get();
    HR_CHECK(buffer != nullptr);
    const Shape shape = substitute(wanted[i]->shape, symbols);
    if (buffer->dtype() != wanted[i]->dtype || Shape(buffer->sizes().begin(), buffer->sizes().end()) != shape)
      return fail(ErrorCode::kInput, "{}: argument '{}' is {}[{}], expected {}{}", function.name, wanted[i]->name,
                  name(buffer->dtype()), fmt::join(buffer->sizes(), ", "), name(wanted[i]->dtype), to_string(shape));
    if (buffer->spent())
      return fail(ErrorCode::kInput, "{}: argument '{}' was donated to an earlier run", function.name, wanted[i]->name);
    const auto same = [buffer](const EngineArgument& other) { return other.buffer.get() == buffer; };
    if (arguments[i].donate && std::ranges::count_if(arguments, same) != 1)
      return fail(ErrorCode::kInput, "{}: argument '{}' is donated and given twice", function.name, wanted[i]->name);
  }
  return {};
}

}  // namespace

std::vector<const ManifestArgument*> passed(const std::vector<ManifestArgument>& values, const EngineProgram& program) {
  std::vector<const ManifestArgument*> out;
  for (const ManifestArgument& value : values)
    if (value.kind == ValueKind::kData || !program.state_inside) out.push_back(&value);
  return out;
}

template <class F>
Result<const EngineProgram*> Engine<F>::program(std::string_view function, const SymbolValues& symbols) const {
  const ManifestFunction* said = manifest_.find(function);
  if (said == nullptr) {
    std::vector<std::string_view> names;
    for (const ManifestFunction& f : manifest_.functions) names.push_back(f.name);
    return fail(ErrorCode::kInput, "no function '{}' (functions: {})", function, fmt::join(names, ", "));
  }
  HR_TRY_STATUS(check_symbols(*said, symbols));
  std::vector<std::string> have;
  for (const EngineProgram& candidate : programs_) {
    if (candidate.function != function) continue;
    const auto agrees = [&](const auto& fixed) { return symbols.find(fixed.first)->second == fixed.second; };
    if (std::ranges::all_of(candidate.symbols, agrees)) return &candidate;
    have.push_back(text(candidate.symbols));
  }
  if (have.empty())
    return fail(ErrorCode::kInput, "{}: not exported for {} (headrace export --target)", function, name());
  return fail(ErrorCode::kInput, "{}: no program for {}, there are: {}", function, text(symbols),
              fmt::join(have, "; "));
}

template <class F>
Status Engine<F>::prepare(std::string_view function, const SymbolValues& symbols) {
  HR_TRY(const EngineProgram* found, program(function, symbols));
  return do_prepare(*found);
}

template <class F>
Result<std::vector<BufferPtr>> Engine<F>::run(std::string_view function, const SymbolValues& symbols,
                                              std::span<const EngineArgument> arguments) {
  HR_TRY(const EngineProgram* found, program(function, symbols));
  HR_TRY_STATUS(check_arguments(*manifest_.find(function), *found, symbols, arguments));
  HR_TRY_STATUS(do_prepare(*found));
  auto results = do_run(*found, symbols, arguments);
  for (const EngineArgument& argument : arguments)
    if (argument.donate) argument.buffer->spend();
  return results;
}

std::optional<EngineKind> parse_engine(std::string_view text) {
  for (size_t i = 0; i < std::size(kEngineTable); ++i)
    if (kEngineTable[i].name == text) return static_cast<EngineKind>(i);
  return std::nullopt;
}

Result<std::unique_ptr<Engine<float>>> open_engine(EngineKind kind, const std::string& directory,
                                                   const EngineOptions& options) {
  return info(kind).open(directory, options);
}

template class Engine<float>;
template class Engine<double>;

}  // namespace headrace
