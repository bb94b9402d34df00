#include "base/npy.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>

#include "base/checked.h"

namespace headrace {

namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr size_t kAlignment = 64;
constexpr size_t kMaxHeader = 1 << 16;
constexpr size_t kMaxRank = 64;

// A cursor over the header's Python dictionary, `{'descr': '<f4', 'fortran_order': False, 'shape': (1, 7), }`.
class Header {
 public:
  explicit Header(std::string_view text) : rest_(text) {}

  bool take(std::string_view token) {
    skip_blanks();
    if (!rest_.starts_with(token)) return false;
    rest_.remove_prefix(token.size());
    return true;
  }

  std::optional<std::string_view> quoted() {
    skip_blanks();
    if (rest_.empty() || (rest_.front() != '\'' && rest_.front() != '"')) return std::nullopt;
    const size_t end = rest_.find(rest_.front(), 1);
    if (end == std::string_view::npos) return std::nullopt;
    const auto text = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    return text;
  }

  std::optional<int64_t> integer() {
    skip_blanks();
    int64_t value = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc()) return std::nullopt;
    rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
    return value;
  }

  std::optional<std::vector<int64_t>> tuple() {
    if (!take("(")) return std::nullopt;
    std::vector<int64_t> out;
    while (!take(")")) {
      const auto value = integer();
      if (!value || out.size() == kMaxRank) return std::nullopt;
      out.push_back(*value);
      if (take(",")) continue;
      if (!take(")")) return std::nullopt;
      break;
    }
    return out;
  }

  bool at_end() {
    skip_blanks();
    return rest_.empty();
  }

 private:
  void skip_blanks() {
    while (!rest_.empty() && std::string_view(" \n\t\r").find(rest_.front()) != std::string_view::npos)
      rest_.remove_prefix(1);
  }

  std::string_view rest_;
};

struct Fields {
  std::optional<std::string_view> descr;
  std::optional<bool> fortran_order;
  std::optional<std::vector<int64_t>> shape;
};

std::optional<Fields> parse_fields(std::string_view text) {
  Header header(text);
  Fields out;
  if (!header.take("{")) return std::nullopt;
  while (!header.take("}")) {
    const auto key = header.quoted();
    if (!key || !header.take(":")) return std::nullopt;
    if (*key == "descr" && !out.descr) {
      out.descr = header.quoted();
      if (!out.descr) return std::nullopt;
    } else if (*key == "fortran_order" && !out.fortran_order) {
      if (header.take("True"))
        out.fortran_order = true;
      else if (header.take("False"))
        out.fortran_order = false;
      else
        return std::nullopt;
    } else if (*key == "shape" && !out.shape) {
      out.shape = header.tuple();
      if (!out.shape) return std::nullopt;
    } else {
      return std::nullopt;
    }
    if (!header.take(",")) {
      if (!header.take("}")) return std::nullopt;
      break;
    }
  }
  if (!header.at_end() || !out.descr || !out.fortran_order || !out.shape) return std::nullopt;
  return out;
}

std::optional<DType> dtype_of(std::string_view descr) {
  for (size_t i = 0; i < std::size(kDTypeTable); ++i)
    if (!kDTypeTable[i].numpy.empty() && kDTypeTable[i].numpy == descr) return static_cast<DType>(i);
  return std::nullopt;
}

// Where the header's text starts and how long it is.
struct Extent {
  size_t offset{}, length{};
};

Result<Extent> header_extent(std::span<const std::byte> file) {
  if (file.size() < 10 || std::memcmp(file.data(), kMagic.data(), kMagic.size()) != 0)
    return fail(ErrorCode::kNpy, "npy: does not start as a .npy file");
  const auto byte = [&](size_t i) { return std::to_integer<size_t>(file[i]); };
  const size_t version = byte(6);
  if (version < 1 || version > 3) return fail(ErrorCode::kNpy, "npy: version {}, expected 1 to 3", version);
  if (version == 1) return Extent{10, byte(8) | byte(9) << 8};
  if (file.size() < 12) return fail(ErrorCode::kNpy, "npy: ends inside the header");
  return Extent{12, byte(8) | byte(9) << 8 | byte(10) << 16 | byte(11) << 24};
}

}  // namespace

Result<NpyArray> parse_npy(std::span<const std::byte> file) {
  HR_TRY(const Extent extent, header_extent(file));
  if (extent.length > kMaxHeader || extent.length > file.size() - extent.offset)
    return fail(ErrorCode::kNpy, "npy: header of {} bytes in a file of {}", extent.length, file.size());
  const auto fields = parse_fields({reinterpret_cast<const char*>(file.data()) + extent.offset, extent.length});
  if (!fields) return fail(ErrorCode::kNpy, "npy: header is not a dictionary of descr, fortran_order and shape");
  const auto dtype = dtype_of(*fields->descr);
  if (!dtype) return fail(ErrorCode::kNpy, "npy: element type '{}' is not a little-endian number", *fields->descr);
  if (*fields->fortran_order && fields->shape->size() > 1)
    return fail(ErrorCode::kNpy, "npy: column-major data, expected row-major (numpy.ascontiguousarray)");

  const auto data = file.subspan(extent.offset + extent.length);
  const bool negative = std::any_of(fields->shape->begin(), fields->shape->end(), [](int64_t n) { return n < 0; });
  const auto count = checked_product(*fields->shape);
  const auto wanted = count ? checked_mul(*count, storage_bytes(*dtype)) : std::nullopt;
  if (negative || !wanted || static_cast<uint64_t>(*wanted) != data.size())
    return fail(ErrorCode::kNpy, "npy: {} bytes of data for {}[{}]", data.size(), name(*dtype),
                fmt::join(*fields->shape, ", "));
  return NpyArray{*dtype, *fields->shape, {data.begin(), data.end()}};
}

Result<NpyArray> read_npy(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error))
    return fail(ErrorCode::kFileOpen, "{}: {}", path, error ? error.message() : "not a regular file");
  const auto size = static_cast<std::streamsize>(std::filesystem::file_size(path, error));
  std::ifstream file(path, std::ios::binary);
  if (error || !file) return fail(ErrorCode::kFileOpen, "{}: cannot be opened", path);
  std::vector<std::byte> bytes(static_cast<size_t>(size));
  file.read(reinterpret_cast<char*>(bytes.data()), size);
  if (!file) return fail(ErrorCode::kFileRead, "{}: reading {} bytes failed", path, size);
  auto array = parse_npy(bytes);
  if (!array) return fail(std::move(array).error().in(path));
  return array;
}

Result<std::vector<std::byte>> npy_header(DType dtype, std::span<const int64_t> sizes) {
  const std::string_view descr = info(dtype).numpy;
  if (descr.empty()) return fail(ErrorCode::kNpy, "npy: numpy has no type for {}", name(dtype));
  std::string shape = fmt::format("{}", fmt::join(sizes, ", "));
  if (sizes.size() == 1) shape += ",";
  std::string text = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", descr, shape);
  constexpr size_t kPrefix = 10;
  text.append(kAlignment - 1 - (kPrefix + text.size()) % kAlignment, ' ');
  text += '\n';
  HR_CHECK(text.size() < kMaxHeader);

  std::string out(kMagic);
  out += {'\x01', '\x00', static_cast<char>(text.size() & 0xFFU), static_cast<char>(text.size() >> 8U)};
  out += text;
  const auto bytes = std::as_bytes(std::span(out));
  return std::vector<std::byte>(bytes.begin(), bytes.end());
}

Status write_npy(const std::string& path, DType dtype, std::span<const int64_t> sizes,
                 std::span<const std::byte> bytes) {
  const auto count = checked_product(sizes);
  HR_CHECK(count && static_cast<uint64_t>(*count * storage_bytes(dtype)) == bytes.size());
  HR_TRY(const auto header, npy_header(dtype, sizes));
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  if (!file) return fail(ErrorCode::kFileOpen, "{}: cannot be opened for writing", path);
  file.write(reinterpret_cast<const char*>(header.data()), static_cast<std::streamsize>(header.size()));
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (file) return {};
  std::error_code ignored;
  if (std::filesystem::is_regular_file(path, ignored)) std::filesystem::remove(path, ignored);
  return fail(ErrorCode::kFileWrite, "{}: writing {} bytes failed", path, header.size() + bytes.size());
}

}  // namespace headrace
