// A fuzz target: one reader of bytes from outside, run on bytes that somebody made up. It may return errors; it may not
// crash, hang, read what it does not own, or allocate more than the input justifies.
//
// A target is one file, fuzz/<name>_fuzz.cpp:
//
//   HR_FUZZ_TARGET(name) {  // `input` are the bytes
//     ...
//   }
//
// From it come the libFuzzer program build/fuzz/<name>_fuzz, which scripts/fuzz.sh runs with the dictionary
// fuzz/<name>.dict (if there is one) from the inputs in testdata/fuzz/<name>/, and the replay of those inputs in the
// everyday tests. Nothing else names the targets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headrace::fuzz {

using Input = std::span<const std::byte>;

struct Target {
  std::string_view name;
  void (*run)(Input input){};
};

// Those linked into this program.
std::vector<Target>& targets();

struct Registration {
  explicit Registration(Target target) { targets().push_back(target); }
};

#define HR_FUZZ_TARGET(name)                                                                 \
  static void fuzz_##name(::headrace::fuzz::Input input);                                    \
  static const ::headrace::fuzz::Registration kFuzz_##name({#name, fuzz_##name}); /*NOLINT*/ \
  static void fuzz_##name(::headrace::fuzz::Input input)

inline std::string_view text_of(Input input) { return {reinterpret_cast<const char*>(input.data()), input.size()}; }

// Ends the program with a message: the input broke a promise of the reader.
[[noreturn]] void broken(std::string_view what);
inline void expect(bool holds, std::string_view what) {
  if (!holds) broken(what);
}

// What any input may cost, and what one may that is traced: a graph has the size of its layers, some 50 KB each,
// however few bytes they take.
inline constexpr int64_t kFixedBytes = 16'000'000;
inline constexpr int64_t kTracedBytes = 64'000'000;

// While one lives, what is allocated and not freed may not exceed `times` the input's size plus `fixed_bytes`; the
// program ends with a message at the allocation that does. One at a time.
class MemoryBound {
 public:
  explicit MemoryBound(size_t input_bytes, int times = 4, int64_t fixed_bytes = kFixedBytes);
  ~MemoryBound();
  MemoryBound(const MemoryBound&) = delete;
  MemoryBound& operator=(const MemoryBound&) = delete;
};

// Files for readers that take paths, in a folder of this process that is removed when it ends.
// Returns the path of `name`, which from now on holds `bytes` and nothing else.
std::string put_file(std::string_view name, std::string_view bytes);
std::string folder();

}  // namespace headrace::fuzz
