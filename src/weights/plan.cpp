#include "weights/plan.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "base/checked.h"
#include "formats/safetensors_writer.h"

namespace headrace {
namespace {

Result<uint64_t> byte_length(const Type& type) {
  const auto count = is_static(type.shape) ? elements(type.shape) : std::nullopt;
  const auto bytes = count ? checked_mul(*count, storage_bytes(type.dtype)) : std::nullopt;
  if (!bytes || *bytes < 0) return fail(ErrorCode::kSafetensors, "{} has no size in bytes", to_string(type));
  return static_cast<uint64_t>(*bytes);
}

// The recipes that parameters use, in the order their sources lie in the checkpoint; those without one come first.
Result<std::vector<uint32_t>> used_recipes(const Module& module) {
  std::vector<bool> used(module.recipes.size());
  for (const auto& p : module.parameters) {
    const bool linked = p.recipe < module.recipes.size() && p.output < module.recipes[p.recipe].outputs.size();
    if (!linked) return fail(ErrorCode::kPass, "parameter '{}' has no recipe", p.name);
    const RecipeOutput& output = module.recipes[p.recipe].outputs[p.output];
    if (output.parameter != p.name || output.type != p.type)
      return fail(ErrorCode::kPass, "parameter '{}' is {}, its recipe makes '{}' {}", p.name, to_string(p.type),
                  output.parameter, to_string(output.type));
    used[p.recipe] = true;
  }
  std::vector<uint32_t> order;
  for (uint32_t i = 0; i < used.size(); ++i)
    if (used[i]) order.push_back(i);
  const auto place = [&](uint32_t i) {
    const auto& sources = module.recipes[i].sources;
    return sources.empty() ? std::pair<int64_t, uint64_t>(-1, 0)
                           : std::pair<int64_t, uint64_t>(sources[0].file, sources[0].offset_bytes);
  };
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return place(a) < place(b); });
  return order;
}

bool rounds(const Recipe& recipe) {
  return std::any_of(recipe.steps.begin(), recipe.steps.end(), [](StepKind s) { return rounds_to(s).has_value(); });
}

}  // namespace

Result<ArchivePlan> plan_archive(const Module& module, const std::map<std::string, std::string>& metadata) {
  HR_TRY(const auto order, used_recipes(module));
  ArchivePlan plan{.format = "safetensors", .header_bytes = {}};
  std::vector<OutTensor> tensors;
  for (const uint32_t r : order) {
    const auto& outputs = module.recipes[r].outputs;
    for (uint32_t o = 0; o < outputs.size(); ++o) {
      auto length = byte_length(outputs[o].type);
      if (!length) return fail(std::move(length).error().in(fmt::format("parameter '{}'", outputs[o].parameter)));
      plan.outputs.push_back({.parameter = outputs[o].parameter,
                              .recipe = r,
                              .output = o,
                              .dtype = outputs[o].type.dtype,
                              .shape = static_sizes(outputs[o].type.shape),
                              .length_bytes = *length});
      const auto& p = plan.outputs.back();
      tensors.push_back({.name = p.parameter, .dtype = p.dtype, .shape = p.shape, .length_bytes = *length});
    }
  }
  HR_TRY(SafetensorsLayout layout, layout_safetensors(tensors, metadata));
  for (size_t i = 0; i < plan.outputs.size(); ++i) plan.outputs[i].offset_bytes = layout.offsets_bytes[i];
  plan.header_bytes = std::move(layout.header_bytes);
  plan.total_bytes = layout.total_bytes;
  return plan;
}

std::vector<ManifestParameter> manifest_parameters(const Module& module, const ArchivePlan* plan,
                                                   const WrittenArchive* written, const std::string& file) {
  HR_CHECK((plan == nullptr) == (written == nullptr));
  std::unordered_map<std::string_view, size_t> place;
  if (plan != nullptr)
    for (size_t i = 0; i < plan->outputs.size(); ++i) place.emplace(plan->outputs[i].parameter, i);
  std::vector<ManifestParameter> rows;
  for (const Parameter& p : module.parameters) {
    auto& row = rows.emplace_back(ManifestParameter{.name = p.name,
                                                    .dtype = p.type.dtype,
                                                    .shape = static_sizes(p.type.shape),
                                                    .role = p.role,
                                                    .recipe = in_words(module.recipes.at(p.recipe))});
    if (plan == nullptr) continue;
    const size_t i = place.at(p.name);
    row.file = file;
    row.offset_bytes = plan->outputs[i].offset_bytes;
    row.length_bytes = plan->outputs[i].length_bytes;
    row.xxh3 = written->xxh3.at(i);
    if (rounds(module.recipes[p.recipe])) row.rounding = written->loss.at(i);
  }
  return rows;
}

}  // namespace headrace
