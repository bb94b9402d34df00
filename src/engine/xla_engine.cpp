// XLA as an engine: each exported program is compiled once by a PJRT plugin; weights are buffers on its device, shared
// by all programs, and caches stay there between runs.
#include <algorithm>
#include <unordered_map>

#include "base/checked.h"
#include "engine/archive.h"
#include "engine/engine.h"
#include "engine/pjrt.h"
#include "interp/host_bytes.h"

namespace headrace {

namespace {

// For programs with bf16 weights and several positions: lets YNNPACK convert while it packs the weight, where XLA would
// convert it in memory on every call (docs/adr/0002). A plugin that does not know it compiles without.
const pjrt::CompileOverrides kNarrowWeights{
    {"xla_cpu_experimental_ynn_fusion_type", "LIBRARY_FUSION_TYPE_DOT,LIBRARY_FUSION_TYPE_REDUCE"}};

class XlaBuffer final : public DeviceBuffer {
 public:
  XlaBuffer(DType dtype, std::vector<int64_t> sizes, pjrt::Buffer buffer)
      : DeviceBuffer(dtype, std::move(sizes)), buffer_(std::move(buffer)) {}
  [[nodiscard]] const pjrt::Buffer& buffer() const { return buffer_; }

 private:
  pjrt::Buffer buffer_;
};

// A parameter on the device, with the host's bytes where the device uses those. Members are freed in reverse order.
struct Weight {
  std::shared_ptr<const void> bytes;
  pjrt::Buffer buffer;
};

struct Loaded {
  pjrt::Executable executable;
  std::vector<size_t> order;             // argument i of the program is argument order[i] of the function
  std::vector<int64_t> donated;          // which of them it would update in place
  std::vector<PJRT_Buffer*> parameters;  // owned by weights_
  bool results_checked{};
};

class XlaEngine final : public Engine<float> {
 public:
  XlaEngine(LoadedExport loaded, std::vector<EngineProgram> programs, std::shared_ptr<const Archive> archive,
            std::shared_ptr<const pjrt::Client> client)
      : Engine(loaded.manifest, std::move(programs)),
        export_(std::move(loaded)),
        archive_(std::move(archive)),
        client_(std::move(client)) {}

  [[nodiscard]] std::string_view name() const override { return info(EngineKind::kXla).name; }

  Result<BufferPtr> upload(const HostTensor<float>& tensor) override {
    HR_TRY(auto buffer, client_->upload(tensor.dtype(), tensor.sizes(), to_bytes(tensor, tensor.dtype())));
    return std::make_shared<XlaBuffer>(tensor.dtype(), tensor.sizes(), std::move(buffer));
  }

  Result<HostTensor<float>> read(const DeviceBuffer& buffer) override {
    if (buffer.spent()) return fail(ErrorCode::kInput, "a buffer that was donated cannot be read");
    HR_TRY(const XlaBuffer* own, own_buffer(buffer));
    // Sizes of a buffer that exists: their product is in range.
    const auto length = static_cast<size_t>(*checked_product(own->sizes()) * storage_bytes(own->dtype()));
    const auto bytes = std::make_shared<std::vector<std::byte>>(length);
    HR_TRY_STATUS(client_->download(own->buffer(), *bytes));
    return view_bytes<float>(own->dtype(), own->sizes(), *bytes, bytes);
  }

 protected:
  Status do_prepare(const EngineProgram& program) override {
    return load(program).map([](Loaded* /*ready*/) {});
  }

  Result<std::vector<BufferPtr>> do_run(const EngineProgram& program, const SymbolValues& symbols,
                                        std::span<const EngineArgument> arguments) override {
    HR_TRY(Loaded * loaded, load(program));
    std::vector<PJRT_Buffer*> buffers;
    buffers.reserve(loaded->order.size() + loaded->parameters.size());
    for (const size_t from : loaded->order) {
      HR_TRY(const XlaBuffer* own, own_buffer(*arguments[from].buffer));
      buffers.push_back(own->buffer().get());
    }
    buffers.insert(buffers.end(), loaded->parameters.begin(), loaded->parameters.end());
    std::vector<int64_t> kept;
    for (const int64_t donated : loaded->donated)
      if (!arguments[loaded->order[static_cast<size_t>(donated)]].donate) kept.push_back(donated);

    const std::vector<ManifestResult>& said = manifest().find(program.function)->results;
    HR_TRY(auto results, client_->execute(loaded->executable, buffers, kept, said.size()));
    std::vector<BufferPtr> out;
    out.reserve(results.size());
    for (size_t i = 0; i < results.size(); ++i) {
      std::vector<int64_t> sizes = static_sizes(substitute(said[i].shape, symbols));
      if (!loaded->results_checked) HR_TRY_STATUS(check_result(program, said[i], sizes, results[i]));
      out.push_back(std::make_shared<XlaBuffer>(said[i].dtype, std::move(sizes), std::move(results[i])));
    }
    loaded->results_checked = true;
    return out;
  }

 private:
  Result<const XlaBuffer*> own_buffer(const DeviceBuffer& buffer) const {
    const auto* own = dynamic_cast<const XlaBuffer*>(&buffer);
    if (own == nullptr || own->buffer().owner() != client_.get())
      return fail(ErrorCode::kInput, "the buffer is another engine's, not {}'s", name());
    return own;
  }

  // The manifest says what is read back; the program is what wrote it.
  Status check_result(const EngineProgram& program, const ManifestResult& said, const std::vector<int64_t>& sizes,
                      const pjrt::Buffer& buffer) const {
    HR_TRY(const auto found, client_->sizes(buffer));
    HR_TRY(const auto type, client_->type(buffer));
    if (found == sizes && type == pjrt::buffer_type(said.dtype)) return {};
    return fail(ErrorCode::kManifest, "{}: result '{}' is [{}] of PJRT type {}, the manifest says {}[{}]",
                program.function, said.name, fmt::join(found, ", "), static_cast<int>(type), headrace::name(said.dtype),
                fmt::join(sizes, ", "));
  }

  [[nodiscard]] const ManifestXla& target(const EngineProgram& program) const {
    const auto& targets = manifest().find(program.function)->targets.xla;
    return *std::ranges::find_if(targets, [&](const ManifestXla& xla) {
      return SymbolValues(xla.symbols.begin(), xla.symbols.end()) == program.symbols;
    });
  }

  Result<Loaded*> load(const EngineProgram& program) {
    const ManifestXla& xla = target(program);
    if (const auto known = loaded_.find(xla.file); known != loaded_.end()) return &known->second;
    const ManifestFunction& function = *manifest().find(program.function);
    Loaded fresh;
    for (const std::string& argument : xla.arguments) {
      const auto at = std::ranges::find(function.arguments, argument, &ManifestArgument::name);
      fresh.order.push_back(static_cast<size_t>(at - function.arguments.begin()));
    }
    for (const ManifestPair& pair : xla.donations) fresh.donated.push_back(pair.argument);
    for (const std::string& parameter : xla.parameters) {
      HR_TRY(PJRT_Buffer * buffer, weight(parameter));
      fresh.parameters.push_back(buffer);
    }
    HR_TRY(fresh.executable, compile(function, xla));
    HR_TRY(const size_t results, client_->count_results(fresh.executable));
    if (results != function.results.size())
      return fail(ErrorCode::kManifest, "{}: {} results, the manifest says {}", export_.path(xla.file), results,
                  function.results.size());
    return &loaded_.emplace(xla.file, std::move(fresh)).first->second;
  }

  Result<pjrt::Executable> compile(const ManifestFunction& function, const ManifestXla& xla) {
    const auto text = std::ranges::find(manifest().texts, xla.file, &ManifestText::file);
    if (text == manifest().texts.end())
      return fail(ErrorCode::kManifest, "{}: '{}' is not among the texts", export_.directory, xla.file);
    HR_TRY(const std::string code, read_text(export_, *text));
    const auto is_narrow = [&](const std::string& name) { return manifest().parameter(name)->dtype == DType::kBF16; };
    if (!has_one_position(function, xla) && std::ranges::any_of(xla.parameters, is_narrow)) {
      if (auto fast = client_->compile(code, kNarrowWeights)) return fast;
    }
    auto compiled = client_->compile(code, {});
    if (!compiled) return fail(std::move(compiled).error().in(export_.path(xla.file)));
    return compiled;
  }

  // One position is spelt as sums that XLA's own code runs faster.
  static bool has_one_position(const ManifestFunction& function, const ManifestXla& xla) {
    const auto tokens = std::ranges::find(function.arguments, "tokens", &ManifestArgument::name);
    if (tokens == function.arguments.end() || tokens->shape.size() != 2) return false;
    return substitute(tokens->shape[1], SymbolValues(xla.symbols.begin(), xla.symbols.end())) == Dim(1);
  }

  Result<PJRT_Buffer*> weight(const std::string& parameter) {
    if (const auto known = weights_.find(parameter); known != weights_.end()) return known->second.buffer.get();
    HR_TRY(Archive::Bytes read, archive_->read(parameter));
    bool held = false;
    HR_TRY(auto buffer, client_->adopt(read.dtype, read.shape, read.bytes, held));
    Weight fresh{.bytes = held ? std::move(read.owner) : nullptr, .buffer = std::move(buffer)};
    return weights_.emplace(parameter, std::move(fresh)).first->second.buffer.get();
  }

  LoadedExport export_;
  std::shared_ptr<const Archive> archive_;
  std::shared_ptr<const pjrt::Client> client_;
  std::unordered_map<std::string, Weight> weights_;
  std::unordered_map<std::string, Loaded> loaded_;  // by file; pointers to values stay
};

}  // namespace

Result<std::unique_ptr<Engine<float>>> open_xla(const std::string& directory, const EngineOptions& options) {
  HR_TRY(LoadedExport loaded, load_export(directory));
  HR_TRY(auto archive, Archive::open(loaded));
  std::vector<EngineProgram> programs;
  for (const ManifestFunction& function : loaded.manifest.functions) {
    for (const ManifestXla& xla : function.targets.xla)
      programs.push_back({.function = function.name, .symbols = {xla.symbols.begin(), xla.symbols.end()}});
  }
  if (programs.empty())
    return fail(ErrorCode::kInput, "{}: not exported for xla (headrace export --target xla)", directory);
  if (options.pjrt_plugin.empty())
    return fail(ErrorCode::kEngineMissing, "xla: no PJRT plugin: {}", info(EngineKind::kXla).install);
  HR_TRY(auto client, pjrt::Client::open(options.pjrt_plugin));
  return std::make_unique<XlaEngine>(std::move(loaded), std::move(programs), std::move(archive), std::move(client));
}

}  // namespace headrace
