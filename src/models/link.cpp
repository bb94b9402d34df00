#include <algorithm>
#include <unordered_set>

#include "models/model.h"

namespace headrace {

namespace {

std::string sizes_text(const std::vector<int64_t>& sizes) { return fmt::format("[{}]", fmt::join(sizes, ", ")); }

// Reads from f32 as it lies; everything else is decoded to f32.
Recipe recipe_for(const TensorEntry& entry, Type type) {
  const bool ready = info(entry.type).plain == DType::kF32;
  return {.sources = {{.tensor = entry.name,
                       .type = entry.type,
                       .file = entry.file,
                       .offset_bytes = entry.offset_bytes,
                       .length_bytes = entry.length_bytes}},
          .steps = {ready ? StepKind::kCopy : StepKind::kDecode},
          .outputs = {{.parameter = entry.name, .type = std::move(type)}}};
}

// The first faults in full, the others as a number: a file may hold a hundred thousand tensors of no place.
struct Faults {
  static constexpr size_t kListed = 100;
  std::vector<std::string> lines;
  ErrorCode code{};
  size_t others = 0;

  void add(ErrorCode kind, std::string line) {
    if (lines.empty()) code = kind;
    if (lines.size() < kListed)
      lines.push_back(std::move(line));
    else
      ++others;
  }
  [[nodiscard]] Error merge() && {
    if (others > 0) lines.push_back(fmt::format("and {} more tensors that are wrong", others));
    return merge_faults(code, std::move(lines));
  }
};

void link_one(const TensorSpec& spec, const Checkpoint& checkpoint, LinkedWeights& out, Faults& faults) {
  const TensorEntry* entry = checkpoint.find(spec.name);
  if (entry == nullptr)
    return faults.add(ErrorCode::kTensorLink, fmt::format("tensor '{}' {} ({}) is missing", spec.name,
                                                          sizes_text(spec.shape), name(spec.role)));
  if (entry->shape != spec.shape)
    return faults.add(ErrorCode::kTensorLink, fmt::format("tensor '{}' has shape {}, expected {}", spec.name,
                                                          sizes_text(entry->shape), sizes_text(spec.shape)));
  if (info(entry->type).scalar == nullptr)
    return faults.add(ErrorCode::kBlockType, fmt::format("tensor '{}' has type {}, which cannot be decoded", spec.name,
                                                         info(entry->type).name));
  if (!spec.used) return;
  const Type type{.dtype = DType::kF32, .shape = Shape(spec.shape.begin(), spec.shape.end())};
  out.parameters.push_back({.name = spec.name,
                            .type = type,
                            .role = spec.role,
                            .recipe = static_cast<uint32_t>(out.recipes.size()),
                            .output = 0});
  out.recipes.push_back(recipe_for(*entry, type));
}

}  // namespace

Result<LinkedWeights> link_weights(const Model& model, const Checkpoint& checkpoint, Warnings& warnings) {
  LinkedWeights out;
  Faults faults;
  std::unordered_set<std::string_view> wanted;
  for (const TensorSpec& spec : model.tensors()) {
    wanted.insert(spec.name);
    link_one(spec, checkpoint, out, faults);
  }
  std::vector<std::string_view> foreign;
  for (const TensorEntry& entry : checkpoint.tensors) {
    if (wanted.contains(entry.name)) continue;
    if (model.names().in_text_model(entry.name))
      faults.add(ErrorCode::kTensorLink, fmt::format("tensor '{}' {} has no place in a {} model of this configuration",
                                                     entry.name, sizes_text(entry.shape), model.architecture()));
    else
      foreign.push_back(entry.name);
  }
  if (!faults.lines.empty()) return fail(std::move(faults).merge());
  constexpr size_t kNamed = 4;
  if (!foreign.empty())
    warnings.add("{} tensors outside the text model are left out: {}{}", foreign.size(),
                 fmt::join(std::span(foreign).first(std::min(kNamed, foreign.size())), ", "),
                 foreign.size() > kNamed ? ", ..." : "");
  return out;
}

}  // namespace headrace
