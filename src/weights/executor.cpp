#include "weights/executor.h"

#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_pipeline.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <thread>

#include "formats/file.h"
#include "weights/chunks.h"
#include "weights/hash.h"

namespace headrace {
namespace {

using executor_detail::Chunk;
using executor_detail::ChunkPlan;
using executor_detail::Cursor;
using executor_detail::Segment;

// Enough for the disk to start on; a smaller number only costs system calls.
constexpr uint64_t kWritebackBytes = uint64_t{8} << 20;
constexpr auto kProgressInterval = std::chrono::milliseconds(100);
constexpr uint64_t kProgressBytes = uint64_t{64} << 20;
constexpr std::align_val_t kAlignment{64};

struct AlignedDelete {
  void operator()(std::byte* bytes) const { ::operator delete(bytes, kAlignment); }
};

// The buffers of one chunk, cut out of one allocation.
struct Slot {
  std::unique_ptr<std::byte, AlignedDelete> memory;
  Chunk chunk;
  std::span<std::byte> in;
  std::vector<std::span<std::byte>> between;
  std::vector<std::span<std::byte>> out;
  RoundingLoss loss;
  std::vector<uint64_t> non_finite;  // of each output

  explicit Slot(uint64_t bytes)
      : memory(static_cast<std::byte*>(::operator new(std::max<uint64_t>(bytes, 64), kAlignment))) {}

  void assign(const Chunk& next) {
    chunk = next;
    loss = {};
    uint64_t used = 0;
    const auto take = [&](uint64_t unit_bytes) {
      const std::span<std::byte> buffer(memory.get() + used, unit_bytes * next.units);
      used += (buffer.size() + 63) / 64 * 64;
      return buffer;
    };
    const ChainUnit& unit = next.segment->unit;
    in = take(unit.in_bytes);
    between.clear();
    for (const uint64_t bytes : unit.between) between.push_back(take(bytes));
    out.clear();
    for (const uint64_t bytes : unit.out_bytes) out.push_back(take(bytes));
  }
};

// The number of NaNs and infinities among floats whose exponent bits are `mask`.
template <class Bits>
uint64_t count_non_finite(std::span<const std::byte> bytes, Bits mask) {
  constexpr size_t kRun = 256;  // a constant trip count: the compiler turns the inner loop into SIMD
  const auto is_special = [&](size_t index) {
    Bits bits = 0;
    std::memcpy(&bits, bytes.data() + index * sizeof(Bits), sizeof(Bits));
    return static_cast<Bits>((bits & mask) == mask ? 1 : 0);
  };
  const size_t values = bytes.size() / sizeof(Bits);
  uint64_t count = 0;
  size_t at = 0;
  for (; at + kRun <= values; at += kRun) {
    Bits in_run = 0;
    for (size_t i = 0; i < kRun; ++i) in_run = static_cast<Bits>(in_run + is_special(at + i));
    count += in_run;
  }
  for (; at < values; ++at) count += is_special(at);
  return count;
}

uint64_t non_finite(DType dtype, std::span<const std::byte> bytes) {
  switch (dtype) {
    case DType::kF16:
      return count_non_finite<uint16_t>(bytes, 0x7C00U);
    case DType::kBF16:
      return count_non_finite<uint16_t>(bytes, 0x7F80U);
    case DType::kF32:
      return count_non_finite<uint32_t>(bytes, 0x7F800000U);
    case DType::kF64:
      return count_non_finite<uint64_t>(bytes, 0x7FF0000000000000U);
    case DType::kI1:
    case DType::kI8:
    case DType::kI16:
    case DType::kI32:
    case DType::kI64:
    case DType::kU8:
    case DType::kU16:
    case DType::kU32:
    case DType::kU64:
      return 0;
  }
  return 0;
}

class Run {
 public:
  // `out` null: nothing is written.
  Run(const ArchivePlan& plan, const ChunkPlan& chunks, std::vector<InputFile> files, const ExecutorOptions& options,
      OutputFile* out)
      : plan_(plan), cursor_(chunks), files_(std::move(files)), options_(options), out_(out) {
    for (size_t i = 0; i < chunks.tokens; ++i) {
      slots_.push_back(std::make_unique<Slot>(chunks.chunk_bytes));
      free_.push_back(slots_.back().get());
    }
    written_.xxh3.resize(plan.outputs.size());
    written_.loss.resize(plan.outputs.size());
    non_finite_.resize(plan.outputs.size());
  }

  Result<WrittenArchive> run(const ChunkPlan& chunks, int jobs, Warnings& warnings) {
    if (out_ != nullptr) HR_TRY_STATUS(out_->write_at(0, std::as_bytes(std::span(plan_.header_bytes))));
    done_bytes_ = plan_.header_bytes.size();
    report(true);
    // TBB complains on stderr when it is asked for more threads than there are cores.
    tbb::task_arena arena(std::min(jobs, tbb::info::default_concurrency()));
    arena.execute([&] { stream(chunks.tokens); });
    if (error_) return fail(*std::move(error_));
    for (const InputFile& file : files_) {
      HR_TRY_STATUS(InputFile::reopen(file.source()));
    }
    if (out_ != nullptr) HR_TRY_STATUS(out_->sync());
    if (stopped()) return fail(ErrorCode::kInterrupted, "interrupted");
    report(true);
    warn(warnings);
    written_.content = content_hash();
    return std::move(written_);
  }

 private:
  void stream(size_t tokens) {
    using tbb::filter_mode;
    tbb::parallel_pipeline(
        tokens, tbb::make_filter<void, Slot*>(filter_mode::serial_in_order, [this](tbb::flow_control& control) {
                  Slot* slot = read();
                  if (slot == nullptr) control.stop();
                  return slot;
                }) & tbb::make_filter<Slot*, Slot*>(filter_mode::parallel, [this](Slot* slot) {
                  return convert(slot);
                }) & tbb::make_filter<Slot*, Slot*>(filter_mode::serial_in_order, [this](Slot* slot) {
                  return hash(slot);
                }) & tbb::make_filter<Slot*, void>(filter_mode::serial_in_order, [this](Slot* slot) { write(slot); }));
  }

  Slot* read() {
    if (failed_) return nullptr;
    if (stopped()) {
      keep(Error{.code = ErrorCode::kInterrupted, .message = "interrupted"});
      return nullptr;
    }
    const auto chunk = cursor_.next();
    if (!chunk) return nullptr;
    if (options_.before_read) options_.before_read();
    Slot* slot = take_slot();
    slot->assign(*chunk);
    if (const SourceRange* source = chunk->segment->source; source != nullptr) {
      const uint64_t offset = source->offset_bytes + chunk->first_unit * chunk->segment->unit.in_bytes;
      auto status = files_[source->file].read_at(offset, slot->in);
      if (!status) keep(std::move(status).error().in(fmt::format("tensor '{}'", source->tensor)));
    }
    return slot;
  }

  Slot* convert(Slot* slot) {
    if (failed_) return slot;
    const Segment& segment = *slot->chunk.segment;
    const StepRun run{segment.recipe, segment.source, slot->chunk.first_unit, &slot->loss};
    apply_chain(options_.steps, segment.unit, run, slot->in, slot->between, slot->out);
    slot->non_finite.clear();
    for (size_t o = 0; o < slot->out.size(); ++o)
      slot->non_finite.push_back(non_finite(plan_.outputs[segment.first_output + o].dtype, slot->out[o]));
    return slot;
  }

  Slot* hash(Slot* slot) {
    if (failed_) return slot;
    const Segment& segment = *slot->chunk.segment;
    hashes_.resize(slot->out.size());
    written_.loss[segment.first_output].add(slot->loss);  // steps that round have one output
    for (size_t o = 0; o < slot->out.size(); ++o) {
      const size_t output = segment.first_output + o;
      hashes_[o].update(slot->out[o]);
      non_finite_[output] += slot->non_finite[o];
      if (slot->chunk.is_last_of_recipe()) written_.xxh3[output] = hashes_[o].hex();
    }
    if (slot->chunk.is_last_of_recipe()) hashes_.clear();
    return slot;
  }

  void write(Slot* slot) {
    const Segment& segment = *slot->chunk.segment;
    for (size_t o = 0; o < slot->out.size() && !failed_; ++o) {
      const uint64_t offset = segment.out_offsets_bytes[o] + slot->chunk.first_unit * segment.unit.out_bytes[o];
      done_bytes_ += slot->out[o].size();
      if (out_ == nullptr) continue;
      auto status = out_->write_at(offset, slot->out[o]);
      if (!status) keep(std::move(status).error());
      note_written(offset, offset + slot->out[o].size());
    }
    give_back(slot);
    if (!failed_) report(false);
  }

  // Collects a range until it is worth a hint. The page it ends in is left for the next hint: more is coming to it.
  void note_written(uint64_t begin, uint64_t end) {
    if (dirty_end_ == 0) dirty_begin_ = begin;
    dirty_begin_ = std::min(dirty_begin_, begin);
    dirty_end_ = std::max(dirty_end_, end);
    if (dirty_end_ - dirty_begin_ < kWritebackBytes) return;
    const uint64_t page_end = dirty_end_ / 4096 * 4096;
    out_->start_writeback(dirty_begin_, page_end - dirty_begin_);
    dirty_begin_ = page_end;
  }

  void report(bool always) {
    if (!options_.progress) return;
    const auto now = std::chrono::steady_clock::now();
    const bool is_due = now - last_report_ >= kProgressInterval || done_bytes_ - reported_bytes_ >= kProgressBytes;
    if (!always && !is_due) return;
    last_report_ = now;
    reported_bytes_ = done_bytes_;
    options_.progress(done_bytes_, plan_.total_bytes);
  }

  void warn(Warnings& warnings) const {
    for (size_t i = 0; i < non_finite_.size(); ++i) {
      const uint64_t kept = non_finite_[i] - written_.loss[i].overflowed;
      if (kept > 0)
        warnings.add("parameter '{}': {} values are NaN or infinite; they are kept", plan_.outputs[i].parameter, kept);
    }
  }

  [[nodiscard]] std::string content_hash() const {
    StreamHash hash;
    hash.update(plan_.header_bytes);
    for (const auto& one : written_.xxh3) hash.update(one);
    return hash.hex();
  }

  [[nodiscard]] bool stopped() const {
    return options_.stop != nullptr && options_.stop->load(std::memory_order_relaxed);
  }

  void keep(Error error) {
    const std::lock_guard lock(mutex_);
    if (!error_) error_ = std::move(error);
    failed_ = true;
  }
  Slot* take_slot() {
    const std::lock_guard lock(mutex_);
    HR_CHECK(!free_.empty());  // the pipeline never has more chunks in flight than there are slots
    Slot* slot = free_.back();
    free_.pop_back();
    return slot;
  }
  void give_back(Slot* slot) {
    const std::lock_guard lock(mutex_);
    free_.push_back(slot);
  }

  const ArchivePlan& plan_;
  Cursor cursor_;
  std::vector<InputFile> files_;
  const ExecutorOptions& options_;
  OutputFile* out_;

  std::mutex mutex_;
  std::vector<std::unique_ptr<Slot>> slots_;
  std::vector<Slot*> free_;
  std::optional<Error> error_;
  std::atomic<bool> failed_ = false;

  std::vector<StreamHash> hashes_;  // of the recipe that is passing through
  std::vector<uint64_t> non_finite_;
  WrittenArchive written_;
  uint64_t done_bytes_ = 0;
  uint64_t dirty_begin_ = 0;
  uint64_t dirty_end_ = 0;
  uint64_t reported_bytes_ = 0;
  std::chrono::steady_clock::time_point last_report_;
};

Result<std::vector<InputFile>> reopen_all(std::span<const SourceFile> files, const ChunkPlan& chunks) {
  std::vector<InputFile> open;
  for (const SourceFile& file : files) {
    HR_TRY(InputFile input, InputFile::reopen(file));
    open.push_back(std::move(input));
  }
  for (const Segment& segment : chunks.segments)
    if (segment.source != nullptr && segment.source->file >= open.size())
      return fail(ErrorCode::kPass, "source '{}' lies in file {} of {}", segment.source->tensor, segment.source->file,
                  open.size());
  return open;
}

Result<WrittenArchive> run(const ArchivePlan& plan, const Module& module, std::span<const SourceFile> files,
                           const ExecutorOptions& options, OutputFile* out, Warnings& warnings) {
  const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  const int jobs = options.jobs > 0 ? options.jobs : cores;
  HR_TRY(const ChunkPlan chunks, executor_detail::cut(plan, module, options.steps, options.max_memory_bytes, jobs));
  HR_TRY(auto open, reopen_all(files, chunks));
  if (out != nullptr) HR_TRY_STATUS(out->reserve(plan.total_bytes));
  return Run(plan, chunks, std::move(open), options, out).run(chunks, jobs, warnings);
}

}  // namespace

Result<WrittenArchive> write_archive(const ArchivePlan& plan, const Module& module, std::span<const SourceFile> files,
                                     const ExecutorOptions& options, OutputFile& out, Warnings& warnings) {
  return run(plan, module, files, options, &out, warnings);
}

Result<WrittenArchive> hash_archive(const ArchivePlan& plan, const Module& module, std::span<const SourceFile> files,
                                    const ExecutorOptions& options, Warnings& warnings) {
  return run(plan, module, files, options, nullptr, warnings);
}

}  // namespace headrace
