// IREE as an engine: its Python runtime in a worker process, which compiles the module, maps the weights and keeps the
// buffers; here they are numbers. Uploads are not waited for, so that a step costs two exchanges: run and read.
#include <algorithm>

#include "base/checked.h"
#include "engine/archive.h"
#include "engine/engine.h"
#include "engine/worker.h"
#include "interp/host_bytes.h"

namespace headrace {

namespace {

using Json = nlohmann::json;

// What buffers share with the engine: the worker, and the numbers whose buffers are gone.
struct Link {
  Worker worker;
  int64_t next_id = 1;
  std::vector<int64_t> freed = {};

  // Sends a request with what was freed since the last one.
  Status send(Json request, std::span<const std::byte> payload = {}) {
    if (!freed.empty()) request["free"] = std::exchange(freed, {});
    return worker.send(request, payload);
  }
  Result<Json> ask(Json request) {
    HR_TRY_STATUS(send(std::move(request)));
    return worker.receive();
  }
};

class IreeBuffer final : public DeviceBuffer {
 public:
  IreeBuffer(DType dtype, std::vector<int64_t> sizes, int64_t id, std::shared_ptr<Link> link)
      : DeviceBuffer(dtype, std::move(sizes)), id_(id), link_(std::move(link)) {}
  IreeBuffer(const IreeBuffer&) = delete;
  IreeBuffer(IreeBuffer&&) = delete;
  IreeBuffer& operator=(const IreeBuffer&) = delete;
  IreeBuffer& operator=(IreeBuffer&&) = delete;
  ~IreeBuffer() override { link_->freed.push_back(id_); }
  [[nodiscard]] int64_t id() const { return id_; }
  [[nodiscard]] const Link* link() const { return link_.get(); }

 private:
  int64_t id_;
  std::shared_ptr<Link> link_;
};

class IreeEngine final : public Engine<float> {
 public:
  IreeEngine(Manifest manifest, std::vector<EngineProgram> programs, std::shared_ptr<Link> link)
      : Engine(std::move(manifest), std::move(programs)), link_(std::move(link)) {}

  [[nodiscard]] std::string_view name() const override { return info(EngineKind::kIree).name; }

  Result<BufferPtr> upload(const HostTensor<float>& tensor) override {
    const int64_t id = link_->next_id++;
    const Json request{
        {"op", "upload"}, {"id", id}, {"dtype", headrace::name(tensor.dtype())}, {"sizes", tensor.sizes()}};
    // Before a module is loaded there is no device.
    if (!loaded_) HR_TRY_STATUS(load(programs().front()));
    HR_TRY_STATUS(mine(link_->send(request, to_bytes(tensor, tensor.dtype()))));
    return std::make_shared<IreeBuffer>(tensor.dtype(), tensor.sizes(), id, link_);
  }

  Result<HostTensor<float>> read(const DeviceBuffer& buffer) override {
    if (buffer.spent()) return fail(ErrorCode::kInput, "a buffer that was donated cannot be read");
    HR_TRY(const IreeBuffer* own, own_buffer(buffer));
    const auto length = static_cast<size_t>(*checked_product(own->sizes()) * storage_bytes(own->dtype()));
    const auto bytes = std::make_shared<std::vector<std::byte>>(length);
    HR_TRY_STATUS(mine(link_->send({{"op", "read"}, {"id", own->id()}})));
    HR_TRY_STATUS(mine(link_->worker.receive(*bytes)));
    return view_bytes<float>(own->dtype(), own->sizes(), *bytes, bytes);
  }

 protected:
  Status do_prepare(const EngineProgram& program) override { return load(program); }

  Result<std::vector<BufferPtr>> do_run(const EngineProgram& program, const SymbolValues& symbols,
                                        std::span<const EngineArgument> arguments) override {
    const ManifestIree& iree = target(program);
    const ManifestFunction& function = *manifest().find(program.function);
    Json ids = Json::array();
    Json keep = Json::array();
    for (size_t i = 0; i < arguments.size(); ++i) {
      HR_TRY(const IreeBuffer* own, own_buffer(*arguments[i].buffer));
      ids.push_back(own->id());
      if (!arguments[i].donate && is_state(function, i)) keep.push_back(own->id());
    }
    const auto said = passed(function.results, program);
    std::vector<BufferPtr> out;
    Json result_ids = Json::array();
    for (const ManifestResult* result : said) {
      const int64_t id = link_->next_id++;
      result_ids.push_back(id);
      out.push_back(
          std::make_shared<IreeBuffer>(result->dtype, static_sizes(substitute(result->shape, symbols)), id, link_));
    }
    auto reply = mine(link_->ask({{"op", "run"},
                                  {"file", iree.file},
                                  {"entry", iree.entry},
                                  {"arguments", std::move(ids)},
                                  {"keep", std::move(keep)},
                                  {"results", std::move(result_ids)}}));
    if (!reply) return fail(std::move(reply).error());
    HR_TRY_STATUS(check_results(program, *reply, out));
    return out;
  }

 private:
  // A fault of the worker, with the engine's name.
  template <class T>
  static Result<T> mine(Result<T> result) {
    if (!result) return fail(std::move(result).error().in(info(EngineKind::kIree).name));
    return result;
  }

  Result<const IreeBuffer*> own_buffer(const DeviceBuffer& buffer) const {
    const auto* own = dynamic_cast<const IreeBuffer*>(&buffer);
    if (own == nullptr || own->link() != link_.get())
      return fail(ErrorCode::kInput, "the buffer is another engine's, not {}'s", name());
    return own;
  }

  // A program writes what replaces an argument into its memory.
  static bool is_state(const ManifestFunction& function, size_t argument) {
    return std::ranges::any_of(
        function.state, [&](const ManifestPair& pair) { return pair.argument == static_cast<int64_t>(argument); });
  }

  // The manifest says what is read back; the program is what wrote it.
  static Status check_results(const EngineProgram& program, const Json& reply, const std::vector<BufferPtr>& out) {
    const auto values = reply.find("values");
    Json wanted = Json::array();
    for (const BufferPtr& buffer : out)
      wanted.push_back({{"dtype", headrace::name(buffer->dtype())}, {"sizes", buffer->sizes()}});
    if (values != reply.end() && *values == wanted) return {};
    return fail(ErrorCode::kManifest, "{}: IREE's results are not those of the manifest: {}", program.function,
                values == reply.end() ? "none" : values->dump().substr(0, 200));
  }

  [[nodiscard]] const ManifestIree& target(const EngineProgram& program) const {
    const auto& targets = manifest().find(program.function)->targets.iree;
    return *std::ranges::find_if(targets, [&](const ManifestIree& iree) {
      return SymbolValues(iree.symbols.begin(), iree.symbols.end()) == program.symbols;
    });
  }

  Status load(const EngineProgram& program) {
    if (loaded_) return {};
    auto reply = mine(link_->ask({{"op", "load"}, {"file", target(program).file}}));
    if (!reply) return fail(std::move(reply).error());
    loaded_ = true;
    return {};
  }

  std::shared_ptr<Link> link_;
  bool loaded_ = false;  // the one module of the export
};

// Messages to the worker are JSON, and so are the paths in them.
Status check_path(const std::string& path) {
  const std::string shown = Json(path).dump(-1, ' ', false, Json::error_handler_t::replace);
  if (Json::parse(shown).get<std::string>() == path) return {};
  return fail(ErrorCode::kInput, "iree: the path {} is not UTF-8", shown);
}

}  // namespace

Result<std::unique_ptr<Engine<float>>> open_iree(const std::string& directory, const EngineOptions& options) {
  HR_TRY(LoadedExport loaded, load_export(directory));
  std::vector<EngineProgram> programs;
  for (const ManifestFunction& function : loaded.manifest.functions) {
    for (const ManifestIree& iree : function.targets.iree)
      programs.push_back({.function = function.name,
                          .symbols = {iree.symbols.begin(), iree.symbols.end()},
                          .state_inside = iree.state_in_globals});
  }
  if (programs.empty())
    return fail(ErrorCode::kInput, "{}: not exported for iree (headrace export --target iree)", directory);
  for (const ManifestParameter& parameter : loaded.manifest.parameters)
    if (!parameter.file)
      return fail(ErrorCode::kArchive, "parameter '{}': the export has no weights (made with --weights none)",
                  parameter.name);
  const auto missing = [](Error error) {
    const EngineInfo& own = info(EngineKind::kIree);
    if (error.code == ErrorCode::kEngineMissing) error.message += fmt::format("; to install it: {}", own.install);
    return fail(std::move(error).in(own.name));
  };
  HR_TRY_STATUS(check_path(directory));
  HR_TRY_STATUS(check_path(options.cache_directory));
  auto worker = Worker::start(options.python, {"-m", "headrace.worker"}, options.stop);
  if (!worker) return missing(std::move(worker).error());
  auto link = std::make_shared<Link>(Link{.worker = *std::move(worker)});
  const Json cache = options.cache_directory.empty() ? Json(nullptr) : Json(options.cache_directory);
  auto opened = link->ask({{"op", "open"}, {"directory", directory}, {"cache", cache}});
  if (!opened) return missing(std::move(opened).error());
  return std::make_unique<IreeEngine>(std::move(loaded.manifest), std::move(programs), std::move(link));
}

}  // namespace headrace
