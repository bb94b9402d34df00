// XXH3-128, in 32 lower-case hex digits as xxh128sum prints them.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace headrace {

// Bytes in, in order, in pieces of any size: the pieces do not show in the digest.
class StreamHash {
 public:
  StreamHash();
  ~StreamHash();
  StreamHash(StreamHash&&) noexcept;
  StreamHash& operator=(StreamHash&&) noexcept;
  StreamHash(const StreamHash&) = delete;
  StreamHash& operator=(const StreamHash&) = delete;

  void update(std::span<const std::byte> bytes);
  void update(std::string_view text) { update(std::as_bytes(std::span(text))); }
  [[nodiscard]] std::string hex() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

[[nodiscard]] std::string hash_hex(std::string_view text);

// Names that carry their content's hash hold this many of its digits.
inline constexpr size_t kNameDigits = 16;

}  // namespace headrace
