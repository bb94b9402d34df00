#include "formats/irpa.h"

#include <cstring>
#include <unordered_set>

#include "base/checked.h"

namespace headrace {

namespace {

constexpr uint32_t kMagic = 0x41505249;  // "IRPA"
constexpr uint64_t kHeaderBytes = 88;
constexpr uint64_t kEntryBytes = 76;
constexpr uint64_t kEntryStride = 80;  // entries start at multiples of 16
constexpr uint32_t kDataEntry = 2;
constexpr uint64_t kEntriesBegin = 96;  // the header's end, at a multiple of 16

// Little-endian; bytes past the eighth are zero.
void put(std::string& out, uint64_t value, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) {
    out += static_cast<char>(value & 0xFF);
    value >>= 8;
  }
}

uint64_t get(std::string_view bytes, uint64_t at, size_t count) {
  uint64_t value = 0;
  for (size_t i = 0; i < count; ++i)
    value |= static_cast<uint64_t>(static_cast<unsigned char>(bytes[at + i])) << (8 * i);
  return value;
}

struct Segments {
  uint64_t entries_end{};
  uint64_t names_end{};
  uint64_t data_begin{};
};

void put_header(std::string& out, uint64_t count, const Segments& at, uint64_t total) {
  put(out, kMagic, 4);
  put(out, 0, 2);  // version 0.0
  put(out, 0, 2);
  put(out, kHeaderBytes, 8);
  put(out, 0, 8);  // no further header
  put(out, 0, 8);  // flags
  put(out, count, 8);
  for (const auto& [begin, end] : {std::pair{kEntriesBegin, at.entries_end}, std::pair{at.entries_end, at.names_end},
                                   std::pair{at.data_begin, total}}) {
    put(out, begin, 8);
    put(out, end - begin, 8);
  }
  out.resize(kEntriesBegin);
}

void put_entry(std::string& out, uint64_t name_offset, uint64_t name_length, uint64_t data_offset, uint64_t length) {
  const size_t begin = out.size();
  put(out, kEntryBytes, 8);
  put(out, kDataEntry, 4);
  put(out, 0, 8);  // flags
  put(out, name_offset, 8);
  put(out, name_length, 8);
  put(out, 0, 16);  // no metadata
  put(out, kIrpaAlignment, 8);
  put(out, data_offset, 8);
  put(out, length, 8);
  out.resize(begin + kEntryStride);
}

}  // namespace

Result<ArchiveLayout> layout_irpa(std::span<const OutTensor> tensors) {
  std::unordered_set<std::string_view> names;
  std::string all_names;
  for (const OutTensor& t : tensors) {
    if (t.name.empty() || !names.insert(t.name).second)
      return fail(ErrorCode::kIrpa, "irpa: tensor name '{}' is empty or repeated", t.name);
    all_names += t.name;
  }
  Segments at{.entries_end = kEntriesBegin + tensors.size() * kEntryStride};
  at.names_end = at.entries_end + all_names.size();
  at.data_begin = *checked_align(at.names_end, kIrpaAlignment);  // of bytes in memory: no overflow
  ArchiveLayout layout;
  uint64_t end = at.data_begin;
  for (const OutTensor& t : tensors) {
    const auto next = checked_add(end, t.length_bytes);
    const auto padded = next ? checked_align(*next, kIrpaAlignment) : std::nullopt;
    if (!padded) return fail(ErrorCode::kIrpa, "irpa: tensor '{}': the file's size overflows", t.name);
    layout.offsets_bytes.push_back(end);
    end = *padded;
  }
  layout.total_bytes = end;
  put_header(layout.header_bytes, tensors.size(), at, end);
  uint64_t name_offset = 0;
  for (size_t i = 0; i < tensors.size(); ++i) {
    put_entry(layout.header_bytes, name_offset, tensors[i].name.size(), layout.offsets_bytes[i] - at.data_begin,
              tensors[i].length_bytes);
    name_offset += tensors[i].name.size();
  }
  layout.header_bytes += all_names;
  layout.header_bytes.resize(at.data_begin);
  return layout;
}

Result<uint64_t> irpa_header_bytes(std::string_view prefix, uint64_t file_bytes) {
  if (prefix.size() < kHeaderBytes || get(prefix, 0, 4) != kMagic)
    return fail(ErrorCode::kIrpa, "irpa: no header at its start");
  if (get(prefix, 4, 4) != 0 || get(prefix, 8, 8) != kHeaderBytes || get(prefix, 16, 8) != 0)
    return fail(ErrorCode::kIrpa, "irpa: version {}.{} with a header of {} bytes, expected one header of version 0.0",
                get(prefix, 4, 2), get(prefix, 6, 2), get(prefix, 8, 8));
  const auto entries = checked_mul(get(prefix, 32, 8), kEntryStride);
  const auto entries_end = entries ? checked_add(*entries, get(prefix, 40, 8)) : std::nullopt;
  const auto names_end = checked_add(get(prefix, 56, 8), get(prefix, 64, 8));
  if (!entries_end || *entries != get(prefix, 48, 8) || !names_end || *entries_end > file_bytes ||
      *names_end > file_bytes)
    return fail(ErrorCode::kIrpa, "irpa: {} entries do not fit the file's {} bytes", get(prefix, 32, 8), file_bytes);
  return std::max(*entries_end, *names_end);
}

Result<std::vector<IrpaEntry>> read_irpa(std::string_view bytes, uint64_t file_bytes) {
  HR_TRY(const uint64_t needed, irpa_header_bytes(bytes.substr(0, kHeaderBytes), file_bytes));
  if (bytes.size() < needed) return fail(ErrorCode::kIrpa, "irpa: {} bytes of the header's {}", bytes.size(), needed);
  const uint64_t count = get(bytes, 32, 8);
  const uint64_t entries_begin = get(bytes, 40, 8);
  const uint64_t names_begin = get(bytes, 56, 8);
  const uint64_t names_length = get(bytes, 64, 8);
  const uint64_t data_begin = get(bytes, 72, 8);
  std::vector<IrpaEntry> out;
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t at = entries_begin + i * kEntryStride;
    const uint64_t name_offset = get(bytes, at + 20, 8);
    const uint64_t name_length = get(bytes, at + 28, 8);
    const auto name_end = checked_add(name_offset, name_length);
    const auto offset = checked_add(data_begin, get(bytes, at + 60, 8));
    const uint64_t length = get(bytes, at + 68, 8);
    const auto end = offset ? checked_add(*offset, length) : std::nullopt;
    if (get(bytes, at, 8) != kEntryBytes || get(bytes, at + 8, 4) != kDataEntry)
      return fail(ErrorCode::kIrpa, "irpa: entry {} is not one of data", i);
    if (!name_end || *name_end > names_length || !end || *end > file_bytes)
      return fail(ErrorCode::kIrpa, "irpa: entry {} reaches beyond its segment", i);
    out.push_back({.name = std::string(bytes.substr(names_begin + name_offset, name_length)),
                   .offset_bytes = *offset,
                   .length_bytes = length});
  }
  return out;
}

}  // namespace headrace
