// One interface to whatever runs an export: device buffers that nobody outside looks into, and functions over them.
//
//   - a program is a function with values for its symbols. XLA has one for each exported length; IREE also such as take
//     any value of a symbol; the interpreter runs every value within the symbol's bounds
//   - buffers stay on the device until read(). A donated argument's memory may become a result's: the buffer is spent
//   - weights are not arguments: an engine takes them from the export's archive once, for all programs
//
// The arguments' dtypes and sizes are checked here, before an engine sees them. Token ids, positions and lengths are
// data: whether they lie in the vocabulary and the cache is for the caller to check (decoder.h does).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/shape.h"
#include "ops/eval.h"
#include "weights/load.h"

namespace headrace {

// A value on an engine's device. It keeps what it lies on alive, so it may outlive its engine.
class DeviceBuffer {
 public:
  virtual ~DeviceBuffer() = default;
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer(DeviceBuffer&&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(DeviceBuffer&&) = delete;

  [[nodiscard]] DType dtype() const { return dtype_; }
  [[nodiscard]] const std::vector<int64_t>& sizes() const { return sizes_; }
  // True after a run it was donated to: it holds nothing.
  [[nodiscard]] bool spent() const { return spent_; }
  // For engines.
  void spend() { spent_ = true; }

 protected:
  DeviceBuffer(DType dtype, std::vector<int64_t> sizes) : dtype_(dtype), sizes_(std::move(sizes)) {}

 private:
  DType dtype_;
  std::vector<int64_t> sizes_;
  bool spent_ = false;
};

using BufferPtr = std::shared_ptr<DeviceBuffer>;

struct EngineArgument {
  BufferPtr buffer;
  // The buffer's memory may be taken for a result; it is spent after the run, even one that failed.
  bool donate{};
};

// A program of an engine. A symbol that `symbols` does not name takes any value within its bounds in the manifest.
struct EngineProgram {
  std::string function;
  SymbolValues symbols = {};
  // The engine keeps the caches itself: neither arguments nor results of kind cache are passed (see Engine::arguments).
  bool state_inside{};
};

// F is what read() and upload() give and take floats in. Engines of programs are of float; the interpreter also of
// double, where it computes every float in f64. Not to be used from several threads at once.
template <class F>
class Engine {
 public:
  virtual ~Engine() = default;
  Engine(const Engine&) = delete;
  Engine(Engine&&) = delete;
  Engine& operator=(const Engine&) = delete;
  Engine& operator=(Engine&&) = delete;

  [[nodiscard]] virtual std::string_view name() const = 0;
  [[nodiscard]] const Manifest& manifest() const { return manifest_; }
  // What can be run, in the manifest's order of functions; smaller symbols first.
  [[nodiscard]] const std::vector<EngineProgram>& programs() const { return programs_; }
  // The program of a function that takes exactly these values. Errors: kInput, naming what there is.
  [[nodiscard]] Result<const EngineProgram*> program(std::string_view function, const SymbolValues& symbols) const;

  // Compiles and loads a program now, its weights with it, where run() would do so. Errors: kInput (no such program);
  // kEngine with the engine's message; those of reading the archive.
  [[nodiscard]] Status prepare(std::string_view function, const SymbolValues& symbols);

  // Errors: kEngine, kMemoryLimit.
  [[nodiscard]] virtual Result<BufferPtr> upload(const HostTensor<F>& tensor) = 0;
  // Results in the function's order; of a program with state_inside those of kind data. Arguments likewise.
  // Errors: kInput: no such program, or arguments that do not fit it: number, dtype, sizes, spent buffers, a buffer of
  // another engine; kEngine with the engine's message; and those of prepare().
  [[nodiscard]] Result<std::vector<BufferPtr>> run(std::string_view function, const SymbolValues& symbols,
                                                   std::span<const EngineArgument> arguments);
  // Waits for the value and copies it. Errors: kInput (a spent buffer, or another engine's), kEngine.
  [[nodiscard]] virtual Result<HostTensor<F>> read(const DeviceBuffer& buffer) = 0;

 protected:
  Engine(Manifest manifest, std::vector<EngineProgram> programs)
      : manifest_(std::move(manifest)), programs_(std::move(programs)) {}

  [[nodiscard]] virtual Status do_prepare(const EngineProgram& program) = 0;
  // The arguments fit the program. Spending donated buffers is the caller's.
  [[nodiscard]] virtual Result<std::vector<BufferPtr>> do_run(const EngineProgram& program, const SymbolValues& symbols,
                                                              std::span<const EngineArgument> arguments) = 0;

 private:
  Manifest manifest_;
  std::vector<EngineProgram> programs_;
};

// The values of a program's arguments (or results) that are passed: all, or without the caches kept inside.
[[nodiscard]] std::vector<const ManifestArgument*> passed(const std::vector<ManifestArgument>& values,
                                                          const EngineProgram& program);

enum class EngineKind : uint8_t {
#define HR_ENGINE(enumerator, ...) enumerator,
#include "engine/engines.def"
};

struct EngineOptions {
  std::string pjrt_plugin = {};      // xla: a shared object that exports GetPjrtApi
  std::string python = {};           // iree: an interpreter that can import headrace and iree
  std::string cache_directory = {};  // iree: where compiled code is kept between runs; empty: nowhere
  int threads{0};                    // interp: for contractions; 0: one for each hardware thread
  uint64_t max_region_runs{0};       // interp: see InterpreterOptions
  std::stop_token stop = {};         // interp: see InterpreterOptions; iree: ends the worker, with kInterrupted
};

// Errors of all: those of load_export; kArchive when weights are missing or not as the manifest says.
// xla, iree: kEngineMissing when the plugin or the Python is not there or not usable, saying how to install it; kInput
// when the export has no programs for it.
[[nodiscard]] Result<std::unique_ptr<Engine<float>>> open_interp(const std::string& directory,
                                                                 const EngineOptions& options);
[[nodiscard]] Result<std::unique_ptr<Engine<float>>> open_xla(const std::string& directory,
                                                              const EngineOptions& options);
[[nodiscard]] Result<std::unique_ptr<Engine<float>>> open_iree(const std::string& directory,
                                                               const EngineOptions& options);
// The interpreter in f64.
[[nodiscard]] Result<std::unique_ptr<Engine<double>>> open_interp_f64(const std::string& directory,
                                                                      const EngineOptions& options);

struct EngineInfo {
  std::string_view name;
  std::string_view help;
  std::string_view install;  // what to do when it is missing; "" = it is always there
  Result<std::unique_ptr<Engine<float>>> (*open)(const std::string& directory, const EngineOptions& options){};
};

inline constexpr EngineInfo kEngineTable[] = {
#define HR_ENGINE(enumerator, ...) {__VA_ARGS__},
#include "engine/engines.def"
};
[[nodiscard]] constexpr const EngineInfo& info(EngineKind kind) { return kEngineTable[static_cast<size_t>(kind)]; }
[[nodiscard]] std::optional<EngineKind> parse_engine(std::string_view text);

[[nodiscard]] Result<std::unique_ptr<Engine<float>>> open_engine(EngineKind kind, const std::string& directory,
                                                                 const EngineOptions& options);

}  // namespace headrace
