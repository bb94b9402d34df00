// Cuts the recipes of a plan into chunks that fit the memory allowed. Internal to the executor.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "weights/plan.h"
#include "weights/steps.h"

namespace headrace::executor_detail {

// One source of one recipe, or a recipe without sources.
struct Segment {
  const Recipe* recipe{};
  const SourceRange* source{};  // may be null
  ChainUnit unit;
  uint64_t units{};            // in all
  uint64_t units_per_chunk{};  // at most
  size_t first_output{};       // index into the plan's outputs; as many as unit.out_bytes follow
  bool ends_recipe{};
  std::vector<uint64_t> out_offsets_bytes;  // in the archive, of each output's first byte made by this segment
};

struct ChunkPlan {
  std::vector<Segment> segments;
  uint64_t chunk_bytes{};  // the most that one chunk's buffers take together
  size_t tokens{};         // chunks in flight
};

struct Chunk {
  const Segment* segment{};
  uint64_t first_unit{};
  uint64_t units{};
  [[nodiscard]] bool is_last_of_recipe() const { return segment->ends_recipe && first_unit + units == segment->units; }
};

// Errors: kMemoryLimit, kBlockType, kPass (a recipe's bytes do not add up), each naming the parameter.
[[nodiscard]] Result<ChunkPlan> cut(const ArchivePlan& plan, const Module& module, std::span<const Step> steps,
                                    uint64_t max_memory_bytes, int jobs);

// Hands out the chunks in order.
class Cursor {
 public:
  explicit Cursor(const ChunkPlan& plan) : plan_(&plan) {}
  [[nodiscard]] std::optional<Chunk> next();

 private:
  const ChunkPlan* plan_;
  size_t segment_ = 0;
  uint64_t unit_ = 0;
};

}  // namespace headrace::executor_detail
