#include "weights/chunks.h"

#include <algorithm>

#include "base/checked.h"
#include "weights/executor.h"

namespace headrace::executor_detail {
namespace {

// What a chunk's buffers should take: enough to make system calls cheap, little enough to stay in a core's cache
// between the steps.
constexpr uint64_t kChunkBytes = uint64_t{1} << 20;
constexpr uint64_t kMinChunkBytes = uint64_t{64} << 10;

Result<Segment> make_segment(const Recipe& recipe, const SourceRange* source, std::span<const Step> steps) {
  HR_TRY(ChainUnit unit, chain_unit(steps, recipe, source));
  Segment segment{.recipe = &recipe, .source = source, .unit = std::move(unit), .out_offsets_bytes = {}};
  if (source == nullptr) return segment;
  if (source->length_bytes % segment.unit.in_bytes != 0)
    return fail(ErrorCode::kPass, "source '{}' has {} bytes, not a multiple of {}", source->tensor,
                source->length_bytes, segment.unit.in_bytes);
  segment.units = source->length_bytes / segment.unit.in_bytes;
  return segment;
}

// Gives each segment of one recipe its place in the outputs, and checks that the outputs are filled exactly.
Status place(std::span<Segment> segments, std::span<const PlannedOutput> outputs) {
  std::vector<uint64_t> filled(outputs.size());
  for (Segment& segment : segments) {
    if (segment.source == nullptr) segment.units = outputs[0].length_bytes / segment.unit.out_bytes[0];
    for (size_t o = 0; o < outputs.size(); ++o) {
      segment.out_offsets_bytes.push_back(outputs[o].offset_bytes + filled[o]);
      const auto bytes = checked_mul(segment.units, segment.unit.out_bytes[o]);
      const auto end = bytes ? checked_add(filled[o], *bytes) : std::nullopt;
      filled[o] = end.value_or(UINT64_MAX);
    }
  }
  for (size_t o = 0; o < outputs.size(); ++o)
    if (filled[o] != outputs[o].length_bytes)
      return fail(ErrorCode::kPass, "'{}' has {} bytes, its recipe makes {}", outputs[o].parameter,
                  outputs[o].length_bytes, filled[o]);
  return {};
}

Status add_recipe(const Recipe& recipe, std::span<const PlannedOutput> outputs, size_t first_output,
                  std::span<const Step> steps, std::vector<Segment>& segments) {
  const size_t begin = segments.size();
  if (recipe.sources.empty()) {
    HR_TRY(Segment segment, make_segment(recipe, nullptr, steps));
    segments.push_back(std::move(segment));
  }
  for (const SourceRange& source : recipe.sources) {
    HR_TRY(Segment segment, make_segment(recipe, &source, steps));
    segments.push_back(std::move(segment));
  }
  segments.back().ends_recipe = true;
  for (size_t i = begin; i < segments.size(); ++i) segments[i].first_output = first_output;
  return place(std::span(segments).subspan(begin), outputs);
}

// Every buffer of a chunk starts at a multiple of 64 bytes.
uint64_t padding_bytes(const Segment& segment) {
  return 64 * (1 + segment.unit.between.size() + segment.unit.out_bytes.size());
}
uint64_t buffer_bytes(const Segment& segment, uint64_t units) {
  return units * segment.unit.buffer_bytes() + padding_bytes(segment);
}
uint64_t units_within(const Segment& segment, uint64_t limit_bytes) {
  const uint64_t room = limit_bytes - std::min(limit_bytes, padding_bytes(segment));
  const uint64_t fit = std::max<uint64_t>(1, room / segment.unit.buffer_bytes());
  return std::min(fit, std::max<uint64_t>(1, segment.units));
}

// Chooses the chunks' size and number in flight: less memory means first smaller chunks, then fewer of them.
Status fit(ChunkPlan& plan, std::span<const PlannedOutput> outputs, uint64_t max_memory_bytes, int jobs) {
  const auto least = [](const Segment& a, const Segment& b) { return buffer_bytes(a, 1) < buffer_bytes(b, 1); };
  const auto worst = std::max_element(plan.segments.begin(), plan.segments.end(), least);
  if (worst != plan.segments.end() && buffer_bytes(*worst, 1) > max_memory_bytes)
    return fail(ErrorCode::kMemoryLimit, "parameter '{}' needs {} bytes of memory to be converted, {} allowed",
                outputs[worst->first_output].parameter, buffer_bytes(*worst, 1), max_memory_bytes);
  const uint64_t budget = std::min(max_memory_bytes, kMaxBufferBytes);
  const size_t tokens = 2 * static_cast<size_t>(jobs) + 2;
  const uint64_t limit = std::min(budget, std::clamp(budget / tokens, kMinChunkBytes, kChunkBytes));
  for (Segment& segment : plan.segments) {
    segment.units_per_chunk = units_within(segment, limit);
    plan.chunk_bytes = std::max(plan.chunk_bytes, buffer_bytes(segment, segment.units_per_chunk));
  }
  plan.tokens = std::clamp<size_t>(budget / std::max<uint64_t>(1, plan.chunk_bytes), 1, tokens);
  return {};
}

}  // namespace

Result<ChunkPlan> cut(const ArchivePlan& plan, const Module& module, std::span<const Step> steps,
                      uint64_t max_memory_bytes, int jobs) {
  ChunkPlan out;
  for (size_t i = 0; i < plan.outputs.size();) {
    const Recipe& recipe = module.recipes.at(plan.outputs[i].recipe);
    const size_t count = recipe.outputs.size();
    HR_CHECK(count > 0 && i + count <= plan.outputs.size());
    auto status = add_recipe(recipe, std::span(plan.outputs).subspan(i, count), i, steps, out.segments);
    if (!status) return fail(std::move(status).error().in(fmt::format("parameter '{}'", plan.outputs[i].parameter)));
    i += count;
  }
  HR_TRY_STATUS(fit(out, plan.outputs, max_memory_bytes, jobs));
  return out;
}

std::optional<Chunk> Cursor::next() {
  while (segment_ < plan_->segments.size()) {
    const Segment& segment = plan_->segments[segment_];
    const bool is_empty = segment.units == 0 && unit_ == 0 && segment.ends_recipe;  // its hash is still wanted
    if (unit_ < segment.units || is_empty) {
      const Chunk chunk{&segment, unit_, std::min(segment.units_per_chunk, segment.units - unit_)};
      unit_ += std::max<uint64_t>(1, chunk.units);
      return chunk;
    }
    ++segment_;
    unit_ = 0;
  }
  return std::nullopt;
}

}  // namespace headrace::executor_detail
