#include "engine/call.h"

#include <algorithm>

#include "engine/decode_function.h"

namespace headrace {

namespace {

template <class F>
const HostTensor<F>* named(const ManifestFunction& function, const std::vector<HostTensor<F>>& inputs,
                           std::string_view argument) {
  const auto at = std::ranges::find(function.arguments, argument, &ManifestArgument::name);
  return at == function.arguments.end() ? nullptr : &inputs[static_cast<size_t>(at - function.arguments.begin())];
}

// The values of the symbols, from dims that are nothing but one.
template <class F>
Result<SymbolValues> solve(const ManifestFunction& function, const std::vector<HostTensor<F>>& inputs) {
  if (inputs.size() != function.arguments.size())
    return fail(ErrorCode::kInput, "{}: {} inputs, expected {}", function.name, inputs.size(),
                function.arguments.size());
  SymbolValues out;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const ManifestArgument& argument = function.arguments[i];
    if (inputs[i].dtype() != argument.dtype || inputs[i].sizes().size() != argument.shape.size())
      return fail(ErrorCode::kInput, "{}: input '{}' is {}[{}], expected {}{}", function.name, argument.name,
                  name(inputs[i].dtype()), fmt::join(inputs[i].sizes(), ", "), name(argument.dtype),
                  to_string(argument.shape));
    for (size_t d = 0; d < argument.shape.size(); ++d) {
      const auto& terms = argument.shape[d].terms();
      if (terms.size() == 1 && argument.shape[d] == Dim::symbol(terms[0].first))
        out.emplace(terms[0].first, inputs[i].sizes()[d]);
    }
  }
  for (const ManifestSymbol& symbol : function.symbols)
    if (!out.contains(symbol.name))
      return fail(ErrorCode::kInput, "{}: no input tells '{}'", function.name, symbol.name);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Shape wanted = substitute(function.arguments[i].shape, out);
    if (Shape(inputs[i].sizes().begin(), inputs[i].sizes().end()) != wanted)
      return fail(ErrorCode::kInput, "{}: input '{}' is [{}], expected {}", function.name, function.arguments[i].name,
                  fmt::join(inputs[i].sizes(), ", "), to_string(wanted));
  }
  return out;
}

// Ids in the vocabulary, lengths in the row, positions in the cache: an engine would clamp or wrap them.
template <class F>
Status check_values(const Manifest& manifest, const ManifestFunction& function,
                    const std::vector<HostTensor<F>>& inputs) {
  const HostTensor<F>* tokens = named(function, inputs, "tokens");
  if (tokens == nullptr || is_float(tokens->dtype()) || tokens->rank() != 2) return {};
  HR_TRY(const int64_t vocabulary, vocabulary_of(manifest));
  const int64_t row = tokens->sizes()[1];
  for (int64_t i = 0; i < tokens->elements(); ++i)
    HR_TRY_STATUS(check_token(tokens->ints()[static_cast<size_t>(i)], i % row, vocabulary));
  const HostTensor<F>* length = named(function, inputs, "length");
  const HostTensor<F>* position = named(function, inputs, "position");
  for (const HostTensor<F>* per_row : {length, position})
    if (per_row != nullptr && (is_float(per_row->dtype()) || per_row->elements() != tokens->sizes()[0]))
      return fail(ErrorCode::kInput, "{}: length and position are expected to be a whole number for each row of tokens",
                  function.name);
  if (length != nullptr) {
    for (const int64_t tokens_in_row : length->ints())
      if (tokens_in_row < 1 || tokens_in_row > row)
        return fail(ErrorCode::kInput, "{}: length {}, expected 1 to {}", function.name, tokens_in_row, row);
  }
  if (position == nullptr) return {};
  HR_TRY(const int64_t capacity, cache_capacity(manifest, function.name));
  for (size_t i = 0; i < position->ints().size(); ++i) {
    const int64_t at = position->ints()[i];
    const int64_t more = length == nullptr ? row : length->ints()[i];
    if (at < 0) return fail(ErrorCode::kInput, "{}: position {}, expected 0 or more", function.name, at);
    if (more > capacity - at)
      return fail(ErrorCode::kCacheFull, "{}: the cache is full: {} tokens at position {} of {} (headrace export --kv)",
                  function.name, more, at, capacity);
  }
  return {};
}

// The program to run and the sizes it takes.
template <class F>
Result<SymbolValues> pick(const Engine<F>& engine, const ManifestFunction& function, const SymbolValues& sizes) {
  const bool pads = function.state.empty() || std::ranges::find(function.arguments, "length",
                                                                &ManifestArgument::name) != function.arguments.end();
  std::optional<SymbolValues> best;
  for (const EngineProgram& program : engine.programs()) {
    if (program.function != function.name) continue;
    const auto fits = [&](const auto& fixed) {
      const int64_t size = sizes.at(fixed.first);
      return size == fixed.second || (pads && size < fixed.second && fixed.first == "seq");
    };
    if (!std::ranges::all_of(program.symbols, fits)) continue;
    SymbolValues values = program.symbols;
    values.insert(sizes.begin(), sizes.end());
    if (!best || values < *best) best = std::move(values);
  }
  if (best) return *best;
  // The exact sizes: the engine says what there is.
  HR_TRY(const EngineProgram* exact, engine.program(function.name, sizes));
  static_cast<void>(exact);
  return sizes;
}

// Tokens beyond the bound, in words of their own: it is what users meet.
Status check_bound(const ManifestFunction& function, const SymbolValues& sizes) {
  for (const ManifestSymbol& symbol : function.symbols) {
    const int64_t size = sizes.at(symbol.name);
    if (symbol.name != "seq" || (size > 0 && size <= symbol.max)) continue;
    if (size == 0) return fail(ErrorCode::kInput, "no tokens, expected 1 to {}", symbol.max);
    return fail(ErrorCode::kInput, "{} tokens, expected at most {} (the export's bound, --seq)", size, symbol.max);
  }
  return {};
}

// The elements of `from` in the corner of `to` that both have, row by row.
template <class T>
void copy_corner(std::span<const T> from, const std::vector<int64_t>& from_sizes, std::span<T> to,
                 const std::vector<int64_t>& to_sizes) {
  if (from.empty() || to.empty()) return;
  const size_t rank = from_sizes.size();
  if (rank == 0) return static_cast<void>(to[0] = from[0]);
  std::vector<int64_t> index(rank, 0);
  const int64_t run = std::min(from_sizes.back(), to_sizes.back());
  while (true) {
    int64_t source = 0;
    int64_t target = 0;
    for (size_t d = 0; d < rank; ++d) {
      source = source * from_sizes[d] + index[d];
      target = target * to_sizes[d] + index[d];
    }
    std::ranges::copy(from.subspan(static_cast<size_t>(source), static_cast<size_t>(run)),
                      to.subspan(static_cast<size_t>(target), static_cast<size_t>(run)).begin());
    size_t d = rank - 1;
    while (d > 0 && ++index[d - 1] == std::min(from_sizes[d - 1], to_sizes[d - 1])) index[--d] = 0;
    if (d == 0) return;
  }
}

template <class F>
HostTensor<F> resized(const HostTensor<F>& tensor, const Shape& shape) {
  const std::vector<int64_t> sizes = static_sizes(shape);
  if (sizes == tensor.sizes()) return tensor;
  HostTensor<F> out(tensor.dtype(), sizes);
  if (is_float(tensor.dtype())) {
    copy_corner<F>(tensor.floats(), tensor.sizes(), out.mutable_floats(), sizes);
  } else {
    copy_corner<int64_t>(tensor.ints(), tensor.sizes(), out.mutable_ints(), sizes);
  }
  return out;
}

}  // namespace

template <class F>
Result<std::vector<HostTensor<F>>> call(Engine<F>& engine, std::string_view function,
                                        std::vector<HostTensor<F>> inputs) {
  const ManifestFunction* said = engine.manifest().find(function);
  if (said == nullptr) return fail(engine.program(function, {}).error());
  HR_TRY(const SymbolValues sizes, solve(*said, inputs));
  HR_TRY_STATUS(check_bound(*said, sizes));
  HR_TRY_STATUS(check_values(engine.manifest(), *said, inputs));
  HR_TRY(const SymbolValues values, pick(engine, *said, sizes));
  HR_TRY(const EngineProgram* program, engine.program(function, values));

  std::vector<EngineArgument> arguments;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const ManifestArgument& argument = said->arguments[i];
    if (argument.kind == ValueKind::kCache && program->state_inside) continue;
    HR_TRY(BufferPtr buffer, engine.upload(resized(inputs[i], substitute(argument.shape, values))));
    arguments.push_back({std::move(buffer), argument.kind == ValueKind::kCache});
  }
  inputs.clear();
  HR_TRY(const auto results, engine.run(function, values, arguments));
  const auto wanted = passed(said->results, *program);
  std::vector<HostTensor<F>> out;
  for (size_t i = 0; i < results.size(); ++i) {
    HR_TRY(const HostTensor<F> whole, engine.read(*results[i]));
    out.push_back(resized(whole, substitute(wanted[i]->shape, sizes)));
  }
  return out;
}

template Result<std::vector<HostTensor<float>>> call(Engine<float>&, std::string_view, std::vector<HostTensor<float>>);
template Result<std::vector<HostTensor<double>>> call(Engine<double>&, std::string_view,
                                                      std::vector<HostTensor<double>>);

}  // namespace headrace
