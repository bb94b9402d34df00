#include "formats/safetensors_header.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>

#include "base/checked.h"
#include "formats/names.h"

namespace headrace {

namespace {

using Json = nlohmann::json;

constexpr size_t kMaxTensors = 1U << 17;  // the largest models hold some 100,000
constexpr size_t kMaxNameBytes = 1024;
constexpr size_t kMaxDims = 8;
constexpr size_t kMaxMetadataKeys = 1U << 14;
constexpr std::string_view kMetadataKey = "__metadata__";

// The start of a text from the file, made fit for a message.
std::string cut(std::string_view text) {
  constexpr size_t kShown = 60;
  return fmt::format("{:?}{}", text.substr(0, kShown), text.size() > kShown ? "..." : "");
}

std::string dims_text(const std::vector<int64_t>& shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

enum class Field : uint8_t { kDtype, kShape, kOffsets };
constexpr std::string_view kFields[] = {"dtype", "shape", "data_offsets"};
constexpr std::string_view kFieldIs[] = {"a string", "a list of numbers", "a list of two numbers"};

// What the header says of one tensor, as far as it has been read.
struct Draft {
  std::string dtype;
  std::vector<int64_t> shape;
  std::vector<uint64_t> offsets;
  unsigned seen = 0;  // bit i: member kFields[i]
};

// Errors without the tensor's name.
Result<TensorEntry> finish(const Draft& draft, uint64_t data_bytes) {
  for (size_t i = 0; i < std::size(kFields); ++i)
    if ((draft.seen >> i & 1U) == 0) return fail(ErrorCode::kSafetensors, "'{}' is missing", kFields[i]);
  if (draft.offsets.size() != 2)
    return fail(ErrorCode::kSafetensors, "data_offsets hold {} numbers, expected 2", draft.offsets.size());
  const uint64_t begin = draft.offsets[0];
  const uint64_t end = draft.offsets[1];
  if (begin > end) return fail(ErrorCode::kSafetensors, "data_offsets [{}, {}] end before they begin", begin, end);
  if (end > data_bytes)
    return fail(ErrorCode::kSafetensors,
                "data_offsets [{}, {}] end beyond the data, which has {} bytes: truncated or corrupt", begin, end,
                data_bytes);
  const auto type = block_type_from_safetensors(draft.dtype);
  if (!type) return fail(ErrorCode::kBlockType, "dtype {} is unknown", cut(draft.dtype));
  const BlockTypeInfo& row = info(*type);
  const auto elements = checked_product(draft.shape);
  if (!elements) return fail(ErrorCode::kSafetensors, "size of {} {} overflows", dims_text(draft.shape), row.name);
  if (*elements % row.block_elements != 0)
    return fail(ErrorCode::kSafetensors, "{} elements of {} take no whole number of bytes", *elements, row.name);
  const auto bytes = checked_mul(*elements / row.block_elements, row.block_bytes);
  if (!bytes) return fail(ErrorCode::kSafetensors, "size of {} {} overflows", dims_text(draft.shape), row.name);
  if (static_cast<uint64_t>(*bytes) != end - begin)
    return fail(ErrorCode::kSafetensors, "{} {} takes {} bytes, data_offsets [{}, {}] give {}", dims_text(draft.shape),
                row.name, *bytes, begin, end, end - begin);
  TensorEntry out{.name = {}, .type = *type, .shape = draft.shape, .offset_bytes = begin, .length_bytes = end - begin};
  if (out.shape.empty()) out.shape = {1};
  return out;
}

// Every handler returns false to stop.
class HeaderParser final : public nlohmann::json_sax<Json> {
 public:
  explicit HeaderParser(uint64_t data_bytes) : data_bytes_(data_bytes) {}

  bool null() override { return wrong("null"); }
  bool boolean(bool /*value*/) override { return wrong("a bool"); }
  bool number_integer(number_integer_t value) override { return wrong(fmt::format("{}", value)); }
  bool number_float(number_float_t /*value*/, const string_t& text) override { return wrong(text.substr(0, 40)); }
  bool binary(binary_t& /*value*/) override { return wrong("binary data"); }

  bool number_unsigned(number_unsigned_t value) override {
    if (at_ == At::kOffsets) {
      if (draft_.offsets.size() < 3) draft_.offsets.push_back(value);  // three are as wrong as more
      return true;
    }
    if (at_ != At::kShape || value > INT64_MAX) return wrong(fmt::format("{}", value));
    if (draft_.shape.size() == kMaxDims) return stop(fmt::format("has more than {} dims", kMaxDims));
    draft_.shape.push_back(static_cast<int64_t>(value));
    return true;
  }

  bool string(string_t& value) override {
    if (at_ == At::kMetadata) return true;
    if (at_ != At::kTensor || field_ != Field::kDtype) return wrong("a string");
    draft_.dtype = value.substr(0, kMaxNameBytes);
    return true;
  }

  bool start_object(size_t /*members*/) override {
    if (at_ == At::kStart)
      at_ = At::kRoot;
    else if (at_ == At::kRoot)
      at_ = name_ == kMetadataKey ? At::kMetadata : At::kTensor;
    else
      return wrong("an object");
    return true;
  }

  bool start_array(size_t /*items*/) override {
    if (at_ != At::kTensor || field_ == Field::kDtype) return wrong("a list");
    at_ = field_ == Field::kShape ? At::kShape : At::kOffsets;
    return true;
  }

  bool end_array() override {
    at_ = At::kTensor;
    return true;
  }

  bool end_object() override {
    const bool tensor = at_ == At::kTensor;
    at_ = At::kRoot;
    return !tensor || add();
  }

  bool key(string_t& name) override {
    if (at_ == At::kRoot) return open_member(name);
    return at_ == At::kMetadata ? metadata_key(name) : tensor_key(name);
  }

  bool parse_error(size_t position, const std::string& /*token*/, const nlohmann::detail::exception& e) override {
    constexpr int kNumberOverflow = 406;
    name_.clear();
    return stop(e.id == kNumberOverflow ? fmt::format("the header holds a number out of range, byte {}", position)
                                        : fmt::format("the header is not JSON, byte {} of it", position));
  }

  [[nodiscard]] Error error() && { return std::move(*error_); }
  [[nodiscard]] std::vector<TensorEntry> take() && { return std::move(tensors_); }

 private:
  enum class At : uint8_t { kStart, kRoot, kMetadata, kTensor, kShape, kOffsets };

  bool stop(std::string message) {
    if (!error_) error_ = Error{ErrorCode::kSafetensors, std::move(message), {}};
    if (name_.empty()) return false;
    error_ = std::move(*error_).in(name_ == kMetadataKey ? name_ : fmt::format("tensor '{}'", name_));
    return false;
  }

  // A value of a kind that has no place here.
  bool wrong(std::string_view what) {
    const auto field = static_cast<size_t>(field_);
    switch (at_) {
      case At::kStart:
        return stop(fmt::format("the header is {}, expected an object", what));
      case At::kRoot:
        return stop(fmt::format("is {}, expected an object", what));
      case At::kMetadata:
        return stop(fmt::format("its key {} is {}, expected a string", cut(metadata_key_), what));
      case At::kTensor:
        return stop(fmt::format("{} is {}, expected {}", kFields[field], what, kFieldIs[field]));
      case At::kShape:
      case At::kOffsets:
        return stop(fmt::format("{} holds {}, expected whole numbers from 0 to 2^63-1", kFields[field], what));
    }
    return false;
  }

  bool open_member(string_t& name) {
    name_.clear();
    if (name == kMetadataKey) {
      if (std::exchange(has_metadata_, true)) return stop(fmt::format("'{}' occurs twice", kMetadataKey));
    } else if (name.size() > kMaxNameBytes) {
      return stop(fmt::format("a tensor's name has {} bytes, expected at most {}", name.size(), kMaxNameBytes));
    } else if (!is_tensor_name(name)) {
      return stop(fmt::format("a tensor's name {} is empty or holds control characters", cut(name)));
    }
    name_ = name;
    draft_ = {};
    return true;
  }

  bool metadata_key(string_t& name) {
    if (!metadata_keys_.insert(name).second) return stop(fmt::format("key {} occurs twice", cut(name)));
    if (metadata_keys_.size() > kMaxMetadataKeys) return stop(fmt::format("has more than {} keys", kMaxMetadataKeys));
    metadata_key_ = std::move(name);
    return true;
  }

  bool tensor_key(const string_t& name) {
    const auto* const row = std::ranges::find(kFields, std::string_view(name));
    if (row == std::end(kFields))
      return stop(fmt::format("member {} is unknown, expected {}", cut(name), fmt::join(kFields, ", ")));
    const auto index = static_cast<unsigned>(row - kFields);
    if ((draft_.seen >> index & 1U) != 0) return stop(fmt::format("'{}' occurs twice", name));
    draft_.seen |= 1U << index;
    field_ = static_cast<Field>(index);
    return true;
  }

  bool add() {
    auto tensor = finish(draft_, data_bytes_);
    if (!tensor) {
      error_ = std::move(tensor).error();
      return stop({});
    }
    if (tensors_.size() == kMaxTensors) {
      name_.clear();
      return stop(fmt::format("more than {} tensors", kMaxTensors));
    }
    tensor->name = name_;
    tensors_.push_back(*std::move(tensor));
    return true;
  }

  uint64_t data_bytes_;
  At at_ = At::kStart;
  std::string name_;  // the member of the root that is being read: a tensor's name or __metadata__
  Field field_{};     // its member, if it is a tensor
  Draft draft_;
  std::vector<TensorEntry> tensors_;
  bool has_metadata_ = false;
  std::string metadata_key_;
  std::unordered_set<std::string> metadata_keys_;
  std::optional<Error> error_;
};

}  // namespace

Result<std::vector<TensorEntry>> parse_safetensors_header(std::string_view json, uint64_t data_bytes) {
  // The parser takes a NUL byte for the end of the text.
  if (const size_t nul = json.find('\0'); nul != std::string_view::npos)
    return fail(ErrorCode::kSafetensors, "the header is not JSON, byte {} of it", nul + 1);
  HeaderParser parser(data_bytes);
  if (!Json::sax_parse(json.begin(), json.end(), &parser)) return fail(std::move(parser).error());
  return std::move(parser).take();
}

}  // namespace headrace
