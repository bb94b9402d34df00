#include "interp/bind.h"

#include <algorithm>
namespace headrace {

namespace {

class Binder {
 public:
  Binder(const Module& module, const Function& function, std::span<const InputShape> inputs)
      : module_(module), function_(function), types_(function.graph->input_types()), inputs_(inputs) {}

  Result<SymbolValues> bind() {
    check_ranks();
    if (faults_.empty()) {
      while (solve_more()) {
      }
      check_sizes();
      check_bounds();
    }
    if (!faults_.empty()) return fail(merge_faults(ErrorCode::kInput, std::move(faults_)).in(function_.name));
    return std::move(values_);
  }

 private:
  template <class... Args>
  void fault(fmt::format_string<Args...> format, Args&&... args) {
    faults_.push_back(fmt::format(format, std::forward<Args>(args)...));
  }

  [[nodiscard]] std::string_view argument(size_t i) const {
    return i < function_.arguments.size() ? std::string_view(function_.arguments[i]) : "?";
  }

  void check_ranks() {
    if (inputs_.size() != types_.size()) {
      fault("{} inputs, expected {}", inputs_.size(), types_.size());
      return;
    }
    for (size_t i = 0; i < types_.size(); ++i) {
      const Type& type = types_[i];
      if (inputs_[i].dtype != type.dtype)
        fault("argument '{}': {}, expected {}", argument(i), name(inputs_[i].dtype), to_string(type));
      else if (inputs_[i].sizes.size() != type.shape.size())
        fault("argument '{}': rank {}, expected {} for {}", argument(i), inputs_[i].sizes.size(), type.shape.size(),
              to_string(type));
    }
  }

  // Solves every dim with one unknown symbol. True when a symbol became known.
  bool solve_more() {
    bool found = false;
    for (size_t i = 0; i < types_.size(); ++i) {
      for (size_t d = 0; d < types_[i].shape.size(); ++d) found |= solve(types_[i].shape[d], inputs_[i].sizes[d]);
    }
    return found;
  }

  bool solve(const Dim& dim, int64_t size) {
    const Dim open = substitute(dim, values_);
    if (open.terms().size() != 1) return false;
    const auto& [symbol, coefficient] = open.terms().front();
    // A size that no integer solves is found by check_sizes: the symbol then has the nearest value.
    values_.emplace(symbol, (Dim(size) - Dim(open.constant())).value() / coefficient);
    return true;
  }

  void check_sizes() {
    for (size_t i = 0; i < types_.size(); ++i) {
      for (size_t d = 0; d < types_[i].shape.size(); ++d) {
        const Dim& dim = types_[i].shape[d];
        const Dim expected = substitute(dim, values_);
        const int64_t size = inputs_[i].sizes[d];
        if (!expected.is_static()) {
          fault("argument '{}': dim {} is {}, which leaves {} undetermined", argument(i), d, size, to_string(expected));
        } else if (expected.value() != size && dim.is_static()) {
          fault("argument '{}': dim {} is {}, expected {}", argument(i), d, size, to_string(dim));
        } else if (expected.value() != size) {
          fault("argument '{}': dim {} is {}, expected {} = {}{}", argument(i), d, size, to_string(dim),
                expected.value(), with_values(dim));
        }
      }
    }
  }

  // ` (seq = 3)`: the values that a dim's expectation rests on.
  [[nodiscard]] std::string with_values(const Dim& dim) const {
    std::string out;
    for (const auto& term : dim.terms())
      out += fmt::format("{}{} = {}", out.empty() ? "" : ", ", term.first, values_.find(term.first)->second);
    return " (" + out + ")";
  }

  void check_bounds() {
    for (const auto& [symbol, value] : values_) {
      const auto declared = std::ranges::find(module_.symbols, symbol, &Symbol::name);
      if (declared == module_.symbols.end()) {
        fault("symbol '{}' is not declared by the module", symbol);
      } else if (value < declared->min || value > declared->max) {
        fault("{}: {} is {}, expected {} to {}", first_use(symbol), symbol, value, declared->min, declared->max);
      }
    }
  }

  [[nodiscard]] std::string first_use(std::string_view symbol) const {
    for (size_t i = 0; i < types_.size(); ++i) {
      for (size_t d = 0; d < types_[i].shape.size(); ++d) {
        for (const auto& term : types_[i].shape[d].terms())
          if (term.first == symbol) return fmt::format("argument '{}': dim {}", argument(i), d);
      }
    }
    return "argument";
  }

  const Module& module_;
  const Function& function_;
  std::vector<Type> types_;
  std::span<const InputShape> inputs_;
  SymbolValues values_;
  std::vector<std::string> faults_;
};

}  // namespace

Result<SymbolValues> bind_symbols(const Module& module, const Function& function, std::span<const InputShape> inputs) {
  try {
    return Binder(module, function, inputs).bind();
  } catch (const UserError& overflow) {
    return fail(ErrorCode::kInput, "{}: {}", function.name, overflow.error.message);
  }
}

}  // namespace headrace
