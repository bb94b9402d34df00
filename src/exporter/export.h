// The main job: checkpoint in; programs, weights and contract out. Orchestrates the parts and holds no logic of theirs.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "exporter/functions.h"
#include "ir/module.h"
#include "models/model.h"
#include "weights/manifest.h"

namespace headrace {

enum class Target : uint8_t { kIree, kXla };

inline constexpr int64_t kDefaultSeq = 128;
inline constexpr int64_t kDefaultCapacity = 1024;

struct ExportOptions {
  std::string model_path;
  std::string directory;
  std::vector<Target> targets{Target::kIree, Target::kXla};
  // Lengths that the programs are specialised for; the largest bounds the symbol `seq`. Empty: kDefaultSeq, or the
  // caches' capacity or the model's context where that is shorter.
  std::vector<int64_t> seq = {};
  // Instead: one program for every length up to the model's context. iree only.
  bool dynamic_seq{};
  std::vector<std::string> functions{"score"};  // names of function_table()
  KvPolicy kv = {};                             // a capacity of 0: kDefaultCapacity, or
                     // the longest of `seq`, at most the model's context (which is it for kConcat)
  bool kv_globals{};  // iree keeps caches in globals of its module; xla has none
  int64_t batch{1};   // texts in one call
  ResultKind result{ResultKind::kLastLogits};
  std::optional<int64_t> layers = {};   // the first so many layers, then the head; all when absent
  DType dtype{DType::kF32};             // of matmul and embedding weights: f32, bf16 or f16
  bool allow_overflow = false;          // finite weights beyond that type's range become infinite instead of refused
  std::string weights = "safetensors";  // format of the archives (archive_formats()); empty: none are written
  uint64_t max_shard_bytes = 0;         // bound on the data of one archive; 0: one archive
  std::string share = {};  // an export whose archive is taken, as a hard link, in place of writing an equal one
  uint64_t max_memory_bytes{uint64_t{512} << 20};  // of the whole process while weights are written
  int jobs{0};                                     // 0: all cores
  std::vector<std::string> print_after = {};       // names of passes
};

struct ExportProgress {
  uint64_t bytes_done{};
  uint64_t bytes_total{};
};

// Callbacks, all optional, called from one thread at a time.
struct ExportHooks {
  std::function<void(const ExportProgress&)> progress;
  std::function<void(std::string_view pass, std::string_view hir)> dump;  // for print_after
  std::stop_token stop;                                                   // request: kInterrupted, old export kept
};

struct ExportReport {
  Manifest manifest;
  std::vector<std::string> files;  // written, relative to the directory
  std::vector<int64_t> seq;        // the lengths the programs are for, ascending; empty: every length
  int64_t max_seq{};               // the longest input
  uint64_t weight_bytes{};
  double trace_seconds{}, pass_seconds{}, emit_seconds{}, weights_seconds{}, total_seconds{};
};

// Errors: those of every part; on any error the directory holds what it held before.
[[nodiscard]] Result<ExportReport> export_model(const ExportOptions& wanted, const ExportHooks& hooks,
                                                Warnings& warnings);

// Trace only: the model's module (function `score` over the symbol `seq`) before any pass. Reads no weight bytes.
[[nodiscard]] Result<Module> trace_model(const Model& model, const Checkpoint& checkpoint, int64_t seq_bound,
                                         Warnings& warnings);

// What a user wants to know before exporting. Faults are what export would refuse; they do not make inspection fail.
struct Inspection {
  std::string architecture;
  bool supported{};
  std::vector<ConfigEntry> config;
  struct TypeUse {
    std::string type;
    uint64_t tensors{}, elements{}, bytes{};
  };
  std::vector<TypeUse> types;
  // The files of the checkpoint in order: more than one of a split set.
  struct FileUse {
    std::string name;  // without its folder
    uint64_t bytes{}, tensors{};
  };
  std::vector<FileUse> files;
  uint64_t tensor_count{}, data_bytes{}, parameter_count{};
  std::optional<bool> tied_head;
  std::vector<std::string> faults;
  std::vector<std::string> warnings;
};
[[nodiscard]] Result<Inspection> inspect_model(const std::string& path);

}  // namespace headrace
