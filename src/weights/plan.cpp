#include "weights/plan.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "base/checked.h"
#include "weights/archive_format.h"

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

// One archive of the outputs given, laid out.
Result<ArchivePlan> laid_out(const ArchiveFormat& format, std::vector<PlannedOutput> outputs,
                             const std::map<std::string, std::string>& metadata) {
  std::vector<OutTensor> tensors;
  tensors.reserve(outputs.size());
  for (const PlannedOutput& p : outputs)
    tensors.push_back({.name = p.parameter, .dtype = p.dtype, .shape = p.shape, .length_bytes = p.length_bytes});
  HR_TRY(ArchiveLayout layout, format.layout(tensors, metadata));
  for (size_t i = 0; i < outputs.size(); ++i) outputs[i].offset_bytes = layout.offsets_bytes[i];
  return ArchivePlan{.format = std::string(format.name),
                     .header_bytes = std::move(layout.header_bytes),
                     .total_bytes = layout.total_bytes,
                     .outputs = std::move(outputs)};
}

// A recipe's outputs and their bytes together.
Result<uint64_t> append_outputs(const Recipe& recipe, uint32_t index, std::vector<PlannedOutput>& out) {
  uint64_t sum = 0;
  for (uint32_t o = 0; o < recipe.outputs.size(); ++o) {
    const RecipeOutput& output = recipe.outputs[o];
    auto length = byte_length(output.type);
    const auto next = length ? checked_add(sum, *length) : std::nullopt;
    if (!length) return fail(std::move(length).error().in(fmt::format("parameter '{}'", output.parameter)));
    if (!next) return fail(ErrorCode::kSafetensors, "parameter '{}': sizes overflow", output.parameter);
    sum = *next;
    out.push_back({.parameter = output.parameter,
                   .recipe = index,
                   .output = o,
                   .dtype = output.type.dtype,
                   .shape = static_sizes(output.type.shape),
                   .length_bytes = *length});
  }
  return sum;
}

}  // namespace

Result<std::vector<ArchivePlan>> plan_archives(const Module& module, const PlanOptions& options) {
  const ArchiveFormat* format = find_archive_format(options.format);
  if (format == nullptr) return fail(ErrorCode::kOptions, "there is no archive format '{}'", options.format);
  HR_TRY(const auto order, used_recipes(module));
  std::vector<ArchivePlan> plans;
  std::vector<PlannedOutput> outputs;
  uint64_t held = 0;
  const auto close = [&]() -> Status {
    HR_TRY(ArchivePlan plan, laid_out(*format, std::exchange(outputs, {}), options.metadata));
    plans.push_back(std::move(plan));
    held = 0;
    return {};
  };
  for (const uint32_t r : order) {
    std::vector<PlannedOutput> next;
    HR_TRY(const uint64_t bytes, append_outputs(module.recipes[r], r, next));
    const auto sum = checked_add(held, bytes);
    const bool full = options.max_shard_bytes != 0 && (!sum || *sum > options.max_shard_bytes);
    if (full && !outputs.empty()) HR_TRY_STATUS(close());
    held += bytes;
    std::move(next.begin(), next.end(), std::back_inserter(outputs));
  }
  if (!outputs.empty() || plans.empty()) HR_TRY_STATUS(close());
  return plans;
}

std::vector<ManifestParameter> manifest_parameters(const Module& module, std::span<const NamedArchive> archives) {
  struct Place {
    const NamedArchive* archive{};
    size_t output{};
  };
  std::unordered_map<std::string_view, Place> places;
  for (const NamedArchive& archive : archives)
    for (size_t i = 0; i < archive.plan.outputs.size(); ++i)
      places.emplace(archive.plan.outputs[i].parameter, Place{&archive, i});
  std::vector<ManifestParameter> rows;
  for (const Parameter& p : module.parameters) {
    auto& row = rows.emplace_back(ManifestParameter{.name = p.name,
                                                    .dtype = p.type.dtype,
                                                    .shape = static_sizes(p.type.shape),
                                                    .role = p.role,
                                                    .recipe = in_words(module.recipes.at(p.recipe))});
    if (archives.empty()) continue;
    const auto& [archive, i] = places.at(p.name);
    row.file = archive->file;
    row.offset_bytes = archive->plan.outputs[i].offset_bytes;
    row.length_bytes = archive->plan.outputs[i].length_bytes;
    row.xxh3 = archive->written.xxh3.at(i);
    if (rounds(module.recipes[p.recipe])) row.rounding = archive->written.loss.at(i);
  }
  return rows;
}

}  // namespace headrace
