// Counts what is allocated: by the sanitizer's hooks where there is one (they see malloc, too), else by operators new
// and delete of our own. Sizes are those asked for, or the allocator's usable size.
#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "target.h"

#if defined(__SANITIZE_ADDRESS__)
#define HR_FUZZ_HOOKS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HR_FUZZ_HOOKS 1
#endif
#endif
#ifdef HR_FUZZ_HOOKS
// Declared here, since gcc's runtime has the two functions but not the header that clang declares them in
// (sanitizer/allocator_interface.h).
extern "C" int __sanitizer_install_malloc_and_free_hooks(void (*on_malloc)(const volatile void*, size_t),
                                                         void (*on_free)(const volatile void*));
extern "C" size_t __sanitizer_get_allocated_size(const volatile void* address);
#endif

namespace headrace::fuzz {
namespace {

constexpr int64_t kOffBytes = INT64_MAX;
std::atomic<int64_t> live_bytes = 0;  // since the bound was set; frees of older memory make it smaller
std::atomic<int64_t> bound_bytes = kOffBytes;

void on_allocate(size_t bytes) {
  const int64_t now = live_bytes.fetch_add(static_cast<int64_t>(bytes)) + static_cast<int64_t>(bytes);
  const int64_t bound = bound_bytes;
  if (now <= bound) return;
  bound_bytes = kOffBytes;  // the message allocates, too
  broken("allocated " + std::to_string(now) + " bytes (the last " + std::to_string(bytes) +
         " at once), the input allows " + std::to_string(bound));
}

void on_free(size_t bytes) { live_bytes -= static_cast<int64_t>(bytes); }

}  // namespace

MemoryBound::MemoryBound(size_t input_bytes, int times, int64_t fixed_bytes) {
#ifdef HR_FUZZ_HOOKS
  static const int installed = __sanitizer_install_malloc_and_free_hooks(
      [](const volatile void* /*address*/, size_t bytes) { on_allocate(bytes); },
      [](const volatile void* address) {
        if (address != nullptr) on_free(__sanitizer_get_allocated_size(address));
      });
  expect(installed != 0, "the sanitizer takes no more hooks");
#endif
  live_bytes = 0;
  bound_bytes = times * static_cast<int64_t>(input_bytes) + fixed_bytes;
}

MemoryBound::~MemoryBound() { bound_bytes = kOffBytes; }

}  // namespace headrace::fuzz

#ifndef HR_FUZZ_HOOKS

namespace {

void* counted(void* memory) {
  if (memory == nullptr) throw std::bad_alloc();
  headrace::fuzz::on_allocate(::malloc_usable_size(memory));
  return memory;
}

void release(void* memory) {
  if (memory == nullptr) return;
  headrace::fuzz::on_free(::malloc_usable_size(memory));
  std::free(memory);
}

void* aligned(size_t bytes, std::align_val_t alignment) {
  const auto step = static_cast<size_t>(alignment);
  return counted(std::aligned_alloc(step, (bytes + step - 1) / step * step));
}

}  // namespace

// The others (arrays, nothrow) call these.
void* operator new(size_t bytes) { return counted(std::malloc(bytes == 0 ? 1 : bytes)); }
void* operator new(size_t bytes, std::align_val_t alignment) { return aligned(bytes, alignment); }
void operator delete(void* memory) noexcept { release(memory); }
void operator delete(void* memory, size_t /*bytes*/) noexcept { release(memory); }
void operator delete(void* memory, std::align_val_t /*alignment*/) noexcept { release(memory); }
void operator delete(void* memory, size_t /*bytes*/, std::align_val_t /*alignment*/) noexcept { release(memory); }

#endif
