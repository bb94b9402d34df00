#include "weights/hash.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <new>

namespace headrace {

struct StreamHash::State {
  State() : xxh3(XXH3_createState()) {
    if (xxh3 == nullptr || XXH3_128bits_reset(xxh3) != XXH_OK) throw std::bad_alloc();
  }
  ~State() { XXH3_freeState(xxh3); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  State(State&&) = delete;
  State& operator=(State&&) = delete;
  XXH3_state_t* xxh3;
};

StreamHash::StreamHash() : state_(std::make_unique<State>()) {}
StreamHash::~StreamHash() = default;
StreamHash::StreamHash(StreamHash&&) noexcept = default;
StreamHash& StreamHash::operator=(StreamHash&&) noexcept = default;

void StreamHash::update(std::span<const std::byte> bytes) {
  XXH3_128bits_update(state_->xxh3, bytes.data(), bytes.size());
}

std::string StreamHash::hex() const {
  const XXH128_hash_t digest = XXH3_128bits_digest(state_->xxh3);
  return fmt::format("{:016x}{:016x}", digest.high64, digest.low64);
}

std::string hash_hex(std::string_view text) {
  StreamHash hash;
  hash.update(text);
  return hash.hex();
}

}  // namespace headrace
