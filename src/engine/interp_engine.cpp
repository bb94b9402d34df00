// The interpreter as an engine: its device is the host, its buffers are host tensors.
#include "engine/engine.h"
#include "engine/session.h"

namespace headrace {

namespace {

template <class F>
class HostBuffer final : public DeviceBuffer {
 public:
  explicit HostBuffer(HostTensor<F> tensor)
      : DeviceBuffer(tensor.dtype(), tensor.sizes()), tensor_(std::move(tensor)) {}
  [[nodiscard]] const HostTensor<F>& tensor() const { return tensor_; }

 private:
  HostTensor<F> tensor_;
};

template <class F>
class InterpEngine final : public Engine<F> {
 public:
  InterpEngine(Session<F> session, std::vector<EngineProgram> programs)
      : Engine<F>(session.manifest(), std::move(programs)), session_(std::move(session)) {}

  [[nodiscard]] std::string_view name() const override { return info(EngineKind::kInterp).name; }

  Result<BufferPtr> upload(const HostTensor<F>& tensor) override { return std::make_shared<HostBuffer<F>>(tensor); }

  Result<HostTensor<F>> read(const DeviceBuffer& buffer) override {
    if (buffer.spent()) return fail(ErrorCode::kInput, "a buffer that was donated cannot be read");
    HR_TRY(const HostBuffer<F>* own, own_buffer(buffer));
    return own->tensor();
  }

 protected:
  Status do_prepare(const EngineProgram& /*program*/) override { return {}; }

  Result<std::vector<BufferPtr>> do_run(const EngineProgram& program, const SymbolValues& /*symbols*/,
                                        std::span<const EngineArgument> arguments) override {
    std::vector<HostTensor<F>> inputs;
    inputs.reserve(arguments.size());
    for (const EngineArgument& argument : arguments) {
      HR_TRY(const HostBuffer<F>* own, own_buffer(*argument.buffer));
      inputs.push_back(own->tensor());
    }
    HR_TRY(auto results, session_.run(program.function, std::move(inputs)));
    std::vector<BufferPtr> out;
    out.reserve(results.size());
    for (HostTensor<F>& result : results) out.push_back(std::make_shared<HostBuffer<F>>(std::move(result)));
    return out;
  }

 private:
  Result<const HostBuffer<F>*> own_buffer(const DeviceBuffer& buffer) const {
    const auto* own = dynamic_cast<const HostBuffer<F>*>(&buffer);
    if (own == nullptr) return fail(ErrorCode::kInput, "the buffer is another engine's, not {}'s", name());
    return own;
  }

  Session<F> session_;
};

template <class F>
Result<std::unique_ptr<Engine<F>>> open(const std::string& directory, const EngineOptions& options) {
  HR_TRY(Session<F> session, Session<F>::open(directory));
  session.options.threads = options.threads;
  session.options.max_region_runs = options.max_region_runs;
  session.options.stop = options.stop;
  std::vector<EngineProgram> programs;
  for (const ManifestFunction& function : session.manifest().functions) programs.push_back({.function = function.name});
  return std::make_unique<InterpEngine<F>>(std::move(session), std::move(programs));
}

}  // namespace

Result<std::unique_ptr<Engine<float>>> open_interp(const std::string& directory, const EngineOptions& options) {
  return open<float>(directory, options);
}

Result<std::unique_ptr<Engine<double>>> open_interp_f64(const std::string& directory, const EngineOptions& options) {
  return open<double>(directory, options);
}

}  // namespace headrace
