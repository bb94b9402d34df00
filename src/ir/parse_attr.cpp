#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>

#include "base/checked.h"
#include "ir/parser.h"

namespace headrace::hir {

namespace {

Result<std::vector<std::byte>> bytes_of(TokenStream& in) {
  const std::string_view digits = in.peek().text;
  if (in.peek().kind != TokenKind::kBytes || digits.size() % 2 != 0)
    return in.error("expected # and pairs of hex digits");
  std::vector<std::byte> out(digits.size() / 2);
  for (size_t i = 0; i < out.size(); ++i) {
    unsigned byte = 0;
    std::from_chars(digits.data() + 2 * i, digits.data() + 2 * i + 2, byte, 16);
    out[i] = static_cast<std::byte>(byte);
  }
  HR_TRY_STATUS(in.advance());
  return out;
}

template <class T>
Result<T> number(TokenStream& in) {
  const std::string_view text = in.peek().text;
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (in.peek().kind != TokenKind::kNumber || error != std::errc() || end != text.data() + text.size())
    return in.error("expected a number in range");
  HR_TRY_STATUS(in.advance());
  return value;
}

// One element of a literal: decimal, or # and its bytes.
Result<std::vector<std::byte>> element(TokenStream& in, DType dtype) {
  const auto width = static_cast<size_t>(storage_bytes(dtype));
  if (in.peek().kind == TokenKind::kBytes) {
    const size_t offset = in.peek().offset;
    HR_TRY(auto bytes, bytes_of(in));
    if (bytes.size() != width)
      return fail(ErrorCode::kHirParse, "{}: {} bytes for one {}", in.position(offset), bytes.size(), name(dtype));
    return bytes;
  }
  if (dtype == DType::kF64 || !is_float(dtype)) {
    if (is_float(dtype)) {
      HR_TRY(const double value, number<double>(in));
      return *Literal::filled(dtype, {}, value).bytes;
    }
    const size_t offset = in.peek().offset;
    HR_TRY(const int64_t value, number<int64_t>(in));
    if (!in_range(dtype, value))
      return fail(ErrorCode::kHirParse, "{}: {} is out of range for {}", in.position(offset), value, name(dtype));
    return *Literal::of_ints(dtype, {}, {value}).bytes;
  }
  HR_TRY(const float value, number<float>(in));
  return *Literal::filled(dtype, {}, static_cast<double>(value)).bytes;
}

Result<std::vector<std::byte>> dense(TokenStream& in, DType dtype, int64_t count) {
  if (in.peek().kind == TokenKind::kBytes) return bytes_of(in);
  std::vector<std::byte> out;
  HR_TRY_STATUS(in.expect("["));
  for (int64_t i = 0; i < count; ++i) {
    if (i > 0) HR_TRY_STATUS(in.expect(","));
    HR_TRY(const auto bytes, element(in, dtype));
    out.insert(out.end(), bytes.begin(), bytes.end());
  }
  HR_TRY_STATUS(in.expect("]"));
  return out;
}

Result<Attr> literal(TokenStream& in) {
  HR_TRY(const std::string form, in.word());
  if (form != "dense" && form != "splat") return in.error("expected 'dense' or 'splat'");
  HR_TRY(const Type type, in.type());
  const auto count = elements(type.shape);
  if (!count || *count < 0) return in.error("a literal needs a static shape of countable size");
  Literal out{.dtype = type.dtype, .sizes = static_sizes(type.shape), .splat = form == "splat", .bytes = {}};
  for (const int64_t size : out.sizes)
    if (size < 0) return in.error("a literal's dims are not negative");
  HR_TRY(auto bytes, out.splat ? element(in, type.dtype) : dense(in, type.dtype, *count));
  const auto wanted = checked_mul(*count, storage_bytes(type.dtype));
  if (!out.splat && (!wanted || bytes.size() != static_cast<size_t>(*wanted)))
    return in.error(fmt::format("a literal of {} elements has {} bytes", *count, bytes.size()));
  const auto is_bool = [](std::byte b) { return std::to_integer<int>(b) <= 1; };
  if (type.dtype == DType::kI1 && !std::all_of(bytes.begin(), bytes.end(), is_bool))
    return in.error("an i1 byte is 00 or 01");
  out.bytes = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  return Attr(std::move(out));
}

Result<Attr> real(TokenStream& in) {
  if (in.peek().kind != TokenKind::kBytes) return number<double>(in).map([](double v) { return Attr(v); });
  uint64_t bits = 0;
  const std::string_view digits = in.peek().text;
  if (digits.size() != 16) return in.error("expected 16 hex digits");
  std::from_chars(digits.data(), digits.data() + digits.size(), bits, 16);
  HR_TRY_STATUS(in.advance());
  return Attr(std::bit_cast<double>(bits));
}

Result<Attr> ints(TokenStream& in) {
  std::vector<int64_t> out;
  HR_TRY_STATUS(in.expect("["));
  while (!in.at("]")) {
    if (!out.empty()) HR_TRY_STATUS(in.expect(","));
    HR_TRY(const int64_t value, in.integer());
    out.push_back(value);
  }
  HR_TRY_STATUS(in.advance());
  return Attr(std::move(out));
}

Result<Attr> types(TokenStream& in) {
  std::vector<Type> out;
  HR_TRY_STATUS(in.expect("("));
  while (!in.at(")")) {
    if (!out.empty()) HR_TRY_STATUS(in.expect(","));
    HR_TRY(auto type, in.type());
    out.push_back(std::move(type));
  }
  HR_TRY_STATUS(in.advance());
  return Attr(std::move(out));
}

Result<Attr> dtype(TokenStream& in) {
  HR_TRY(const std::string word, in.word());
  const auto parsed = parse_dtype(word);
  if (!parsed) return in.error(fmt::format("'{}' is not an element type", word));
  return Attr(*parsed);
}

}  // namespace

Result<Attr> parse_attr(TokenStream& in, AttrKind kind) {
  const auto wrap = [](auto result) -> Result<Attr> {
    return std::move(result).map([](auto value) { return Attr(std::move(value)); });
  };
  switch (kind) {
    case AttrKind::kInt:
      return wrap(in.integer());
    case AttrKind::kFloat:
      return real(in);
    case AttrKind::kString:
      return wrap(in.string());
    case AttrKind::kInts:
      return ints(in);
    case AttrKind::kShape:
      return wrap(in.shape());
    case AttrKind::kDType:
      return dtype(in);
    case AttrKind::kLiteral:
      return literal(in);
    case AttrKind::kTypes:
      return types(in);
  }
  throw InternalError("attribute kind out of range");
}

}  // namespace headrace::hir
