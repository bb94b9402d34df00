#include "formats/header_reader.h"

#include <algorithm>
#include <cstring>

#include "base/checked.h"

namespace headrace {

HeaderHash::HeaderHash() : state_(XXH3_createState()) {
  HR_CHECK(state_ != nullptr);
  HR_CHECK(XXH3_128bits_reset(state_.get()) == XXH_OK);
}

void HeaderHash::add(std::span<const std::byte> bytes) {
  HR_CHECK(XXH3_128bits_update(state_.get(), bytes.data(), bytes.size()) == XXH_OK);
}

std::string HeaderHash::hex() const {
  const XXH128_hash_t digest = XXH3_128bits_digest(state_.get());
  return fmt::format("{:016x}{:016x}", digest.high64, digest.low64);
}

HeaderReader::HeaderReader(const InputFile& file, HeaderHash& hash)
    : file_(file), hash_(hash), limit_(std::min(file.size_bytes(), kMaxHeaderBytes)) {}

Status HeaderReader::need(uint64_t count, uint64_t item_bytes) const {
  const auto bytes = checked_mul(count, item_bytes);
  if (bytes && *bytes <= left_bytes()) return {};
  const std::string wanted = count == 1 ? fmt::format("{} bytes", item_bytes)
                                        : fmt::format("{} items of at least {} bytes", count, item_bytes);
  if (file_.size_bytes() > limit_)
    return fail(code_, "needs {} at offset {}, beyond the largest header of {} bytes", wanted, position_bytes(),
                limit_);
  return fail(code_, "needs {} at offset {}, the file has {} bytes: truncated or corrupt", wanted, position_bytes(),
              file_.size_bytes());
}

Status HeaderReader::refill() {
  window_start_ += filled_;
  cursor_ = 0;
  filled_ = static_cast<size_t>(std::min<uint64_t>(window_.size(), limit_ - window_start_));
  return file_.read_at(window_start_, std::span(window_).first(filled_));
}

Status HeaderReader::read(std::span<std::byte> out) {
  HR_TRY_STATUS(need(1, out.size()));
  for (auto rest = out; !rest.empty();) {
    if (cursor_ == filled_) HR_TRY_STATUS(refill());
    const size_t count = std::min(rest.size(), filled_ - cursor_);
    std::memcpy(rest.data(), window_.data() + cursor_, count);
    cursor_ += count;
    rest = rest.subspan(count);
  }
  hash_.add(out);
  return {};
}

Result<std::string> HeaderReader::text(uint64_t length_bytes) {
  HR_TRY_STATUS(need(1, length_bytes));
  std::string out(length_bytes, '\0');
  HR_TRY_STATUS(read(std::as_writable_bytes(std::span(out))));
  return out;
}

}  // namespace headrace
