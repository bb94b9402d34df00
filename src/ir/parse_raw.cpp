#include <charconv>

#include "ir/parser.h"

namespace headrace::hir {

namespace {

constexpr int kMaxDepth = 32;  // of nested regions; ir/verify.cpp allows as many

template <class T>
std::optional<T> to_number(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// %12 or %12#1.
Result<RawValue> value(TokenStream& in) {
  const Token token = in.peek();
  if (token.kind != TokenKind::kValue) return in.error("expected a value");
  const size_t hash = token.text.find('#');
  const auto number = to_number<uint32_t>(token.text.substr(0, hash));
  const auto result =
      hash == std::string_view::npos ? std::optional<uint32_t>(0) : to_number<uint32_t>(token.text.substr(hash + 1));
  if (!number || !result) return in.error("malformed value");
  HR_TRY_STATUS(in.advance());
  return RawValue{.number = *number, .result = *result, .offset = token.offset};
}

Status attributes(TokenStream& in, RawNode& node) {
  if (node.op->attrs.empty()) return {};
  HR_TRY_STATUS(in.expect("{"));
  for (size_t i = 0; i < node.op->attrs.size(); ++i) {
    const AttrSpec& spec = node.op->attrs[i];
    if (i > 0) HR_TRY_STATUS(in.expect(","));
    HR_TRY_STATUS(in.expect(spec.name));
    HR_TRY_STATUS(in.expect("="));
    HR_TRY(auto attr, parse_attr(in, spec.kind));
    node.attrs.push_back(std::move(attr));
  }
  return in.expect("}");
}

Result<RawGraph> region(TokenStream& in, OpLookup lookup, int depth) {
  RawGraph graph;
  HR_TRY_STATUS(in.expect("("));
  while (!in.at(")")) {
    if (!graph.inputs.empty()) HR_TRY_STATUS(in.expect(","));
    HR_TRY(const RawValue input, value(in));
    if (input.number != graph.inputs.size() || input.result != 0)
      return in.error("inputs are numbered from %0 upwards");
    HR_TRY_STATUS(in.expect(":"));
    HR_TRY(auto type, in.type());
    graph.inputs.push_back(std::move(type));
  }
  HR_TRY_STATUS(in.advance());
  HR_TRY_STATUS(parse_body(in, lookup, depth, graph));
  return graph;
}

Result<RawNode> node(TokenStream& in, OpLookup lookup, int depth) {
  RawNode out;
  HR_TRY(const RawValue defined, value(in));
  out.number = defined.number;
  out.offset = defined.offset;
  HR_TRY_STATUS(in.expect("="));
  const size_t name_offset = in.peek().offset;
  HR_TRY(const std::string name, in.word());
  out.op = lookup(name);
  if (out.op == nullptr)
    return fail(ErrorCode::kHirParse, "{}: unknown operation '{}'", in.position(name_offset), name);
  HR_TRY_STATUS(in.expect("("));
  HR_TRY(out.operands, parse_values(in, ")"));
  HR_TRY_STATUS(attributes(in, out));
  for (int i = 0; i < out.op->regions; ++i) {
    HR_TRY_STATUS(in.expect("region"));
    HR_TRY(auto graph, region(in, lookup, depth + 1));
    out.regions.push_back(std::move(graph));
  }
  HR_TRY_STATUS(in.expect(":"));
  while (true) {
    HR_TRY(auto type, in.type());
    out.types.push_back(std::move(type));
    HR_TRY(const bool another, in.accept(","));
    if (!another) break;
  }
  HR_TRY(const bool placed, in.accept("@"));
  if (placed) {
    HR_TRY(out.place, in.string());
  }
  return out;
}

}  // namespace

Status TokenStream::advance() {
  HR_TRY(token_, lexer_.next());
  return {};
}

Result<bool> TokenStream::accept(std::string_view text) {
  if (!at(text)) return false;
  HR_TRY_STATUS(advance());
  return true;
}

Status TokenStream::expect(std::string_view text) {
  if (!at(text)) return error(fmt::format("expected '{}'", text));
  return advance();
}

Result<std::string> TokenStream::word() {
  if (token_.kind != TokenKind::kWord) return error("expected a word");
  std::string out(token_.text);
  HR_TRY_STATUS(advance());
  return out;
}

Result<std::string> TokenStream::string() {
  if (token_.kind != TokenKind::kString) return error("expected a quoted string");
  HR_TRY(std::string out, unescape(token_.text));
  HR_TRY_STATUS(advance());
  return out;
}

Result<int64_t> TokenStream::integer() {
  const auto parsed = to_number<int64_t>(token_.text);
  if (token_.kind != TokenKind::kNumber || !parsed) return error("expected an integer");
  HR_TRY_STATUS(advance());
  return *parsed;
}

Result<uint64_t> TokenStream::unsigned_integer() {
  const auto parsed = to_number<uint64_t>(token_.text);
  if (token_.kind != TokenKind::kNumber || !parsed) return error("expected an integer that is not negative");
  HR_TRY_STATUS(advance());
  return *parsed;
}

tl::unexpected<Error> TokenStream::error(std::string_view message) const {
  const std::string seen = token_.kind == TokenKind::kEnd ? "the end" : fmt::format("'{}'", token_.text.substr(0, 40));
  return fail(ErrorCode::kHirParse, "{}: {}, found {}", position(token_.offset), message, seen);
}

// A sum of terms, its tokens joined by blanks and handed to parse_dim, which is strict.
Result<Dim> TokenStream::dim() {
  std::string text;
  const size_t offset = token_.offset;
  while (token_.kind == TokenKind::kWord || token_.kind == TokenKind::kNumber || at("+") || at("-") || at("*")) {
    text += fmt::format("{}{}", text.empty() ? "" : " ", token_.text);
    HR_TRY_STATUS(advance());
  }
  if (text.empty()) return error("expected a dim");
  auto parsed = parse_dim(text);
  if (!parsed) return fail(std::move(parsed).error().in(position(offset)));
  return parsed;
}

Result<Shape> TokenStream::shape() {
  Shape out;
  HR_TRY_STATUS(expect("["));
  while (!at("]")) {
    if (!out.empty()) HR_TRY_STATUS(expect(","));
    HR_TRY(auto d, dim());
    out.push_back(std::move(d));
  }
  HR_TRY_STATUS(advance());
  return out;
}

Result<Type> TokenStream::type() {
  HR_TRY(const std::string text, word());
  const auto dtype = parse_dtype(text);
  if (!dtype) return error(fmt::format("'{}' is not an element type", text));
  HR_TRY(auto dims, shape());
  return Type{.dtype = *dtype, .shape = std::move(dims)};
}

Result<std::vector<RawValue>> parse_values(TokenStream& in, std::string_view closing) {
  std::vector<RawValue> out;
  while (!in.at(closing)) {
    if (!out.empty()) HR_TRY_STATUS(in.expect(","));
    HR_TRY(const RawValue v, value(in));
    out.push_back(v);
  }
  HR_TRY_STATUS(in.expect(closing));
  return out;
}

Status parse_body(TokenStream& in, OpLookup lookup, int depth, RawGraph& graph) {
  if (depth > kMaxDepth) return in.error(fmt::format("regions nest deeper than {}", kMaxDepth));
  HR_TRY_STATUS(in.expect("{"));
  while (!in.at("return")) {
    HR_TRY(auto next, node(in, lookup, depth));
    graph.nodes.push_back(std::move(next));
  }
  HR_TRY_STATUS(in.advance());
  HR_TRY(graph.results, parse_values(in, "}"));
  return {};
}

}  // namespace headrace::hir
