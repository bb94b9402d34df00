// The parts of the HIR parser: tokens to a raw tree (parse_raw.cpp), attributes (parse_attr.cpp), raw tree to graphs
// (parse.cpp). Private to src/ir.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ir/lexer.h"
#include "ir/module.h"

namespace headrace::hir {

// A stream of tokens with one token of look-ahead and errors that carry the position.
class TokenStream {
 public:
  explicit TokenStream(std::string_view text) : lexer_(text) {}
  // Reads the first token. To be called once, before anything else.
  [[nodiscard]] Status start() { return advance(); }

  [[nodiscard]] const Token& peek() const { return token_; }
  [[nodiscard]] bool at(std::string_view text) const {
    return token_.text == text && token_.kind != TokenKind::kString && token_.kind != TokenKind::kEnd;
  }
  [[nodiscard]] Status advance();
  // Takes the token if it is this word or mark; says so.
  [[nodiscard]] Result<bool> accept(std::string_view text);
  [[nodiscard]] Status expect(std::string_view text);
  [[nodiscard]] Result<std::string> word();
  [[nodiscard]] Result<std::string> string();
  [[nodiscard]] Result<int64_t> integer();
  [[nodiscard]] Result<uint64_t> unsigned_integer();
  [[nodiscard]] tl::unexpected<Error> error(std::string_view message) const;
  [[nodiscard]] std::string position(size_t offset) const { return lexer_.position(offset); }

  [[nodiscard]] Result<Shape> shape();  // [1, seq, 2*past + 1]
  [[nodiscard]] Result<Type> type();    // f32[1, seq]

 private:
  [[nodiscard]] Result<Dim> dim();
  Lexer lexer_;
  Token token_;
};

[[nodiscard]] Result<Attr> parse_attr(TokenStream& in, AttrKind kind);

// A value reference before it is linked.
struct RawValue {
  uint32_t number{};
  uint32_t result{};
  size_t offset{};
};

struct RawGraph;

struct RawNode {
  uint32_t number{};
  size_t offset{};
  const OpDef* op{};
  std::vector<RawValue> operands;
  std::vector<Attr> attrs;
  std::vector<RawGraph> regions;
  std::vector<Type> types;
  std::string place;
};

struct RawGraph {
  std::vector<Type> inputs;
  std::vector<RawNode> nodes;
  std::vector<RawValue> results;
};

// From `{` to the matching `}`. `depth` counts enclosing regions.
[[nodiscard]] Status parse_body(TokenStream& in, OpLookup lookup, int depth, RawGraph& graph);
[[nodiscard]] Result<std::vector<RawValue>> parse_values(TokenStream& in, std::string_view closing);

}  // namespace headrace::hir
