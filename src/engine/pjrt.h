// XLA behind the PJRT C API (third_party/pjrt): a plugin loaded, its errors as one line, its handles owned. One device:
// the plugin's first. Internal to the engine part.
#pragma once

#include <pjrt_c_api.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/dtype.h"
#include "base/result.h"

namespace headrace::pjrt {

// Older plugins than this are refused: nothing older was tried.
inline constexpr int kOldestMinor = 70;

// Is this table of functions one that can be used? Errors: kEngineMissing: another major version, an old one, or a
// table too short for what is called.
[[nodiscard]] Status check_api(const PJRT_Api& api);

class Client;

// Owns what `destroy` frees, and keeps the client alive until then.
template <class T>
class Handle {
 public:
  Handle() = default;
  Handle(std::shared_ptr<const Client> client, T* value, void (*destroy)(const Client&, T*))
      : client_(std::move(client)), value_(value), destroy_(destroy) {}
  Handle(Handle&& other) noexcept
      : client_(std::move(other.client_)), value_(std::exchange(other.value_, nullptr)), destroy_(other.destroy_) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(client_, other.client_);
    std::swap(value_, other.value_);
    std::swap(destroy_, other.destroy_);
    return *this;
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() {
    if (value_ != nullptr) destroy_(*client_, value_);
  }
  [[nodiscard]] T* get() const { return value_; }
  [[nodiscard]] const Client* owner() const { return client_.get(); }

 private:
  std::shared_ptr<const Client> client_;
  T* value_{};
  void (*destroy_)(const Client&, T*){};
};

using Buffer = Handle<PJRT_Buffer>;
using Executable = Handle<PJRT_LoadedExecutable>;

// Options of XLA's compiler for one program, as in XLA_FLAGS without dashes; all of them strings.
using CompileOverrides = std::map<std::string, std::string>;

// CompileOptionsProto (xla/pjrt/proto/compile_options.proto) for one replica and one partition.
[[nodiscard]] std::string compile_options(const CompileOverrides& overrides);

class Client : public std::enable_shared_from_this<Client> {
 public:
  // Loads a plugin and makes a client of it. A plugin is never unloaded: its threads may outlive the client.
  // Errors: kEngineMissing (cannot be loaded, exports no GetPjrtApi, check_api); kEngine (it starts no client, or one
  // without a device).
  [[nodiscard]] static Result<std::shared_ptr<const Client>> open(const std::string& plugin);

  explicit Client(const PJRT_Api& api) : api_(api) {}
  Client(const Client&) = delete;
  Client(Client&&) = delete;
  Client& operator=(const Client&) = delete;
  Client& operator=(Client&&) = delete;
  ~Client();

  // StableHLO text of one @main. Errors: kEngine with the first line of the compiler's message.
  [[nodiscard]] Result<Executable> compile(std::string_view text, const CompileOverrides& overrides) const;
  [[nodiscard]] Result<size_t> count_results(const Executable& executable) const;

  // Copies little-endian elements in row-major order, storage_bytes(dtype) each. Errors: kEngine.
  [[nodiscard]] Result<Buffer> upload(DType dtype, std::span<const int64_t> sizes,
                                      std::span<const std::byte> bytes) const;
  // The same without a copy where the plugin takes the bytes as they are (`bytes` aligned to 64): they must then stay
  // as they are until the buffer is freed. `held` says whether it took them; if not, they may be freed.
  [[nodiscard]] Result<Buffer> adopt(DType dtype, std::span<const int64_t> sizes, std::span<const std::byte> bytes,
                                     bool& held) const;
  // `kept` are indices of arguments that must not be donated although the program would. Precondition: `results` is
  // count_results(executable). The run may go on after the call; reading its results waits. Errors: kEngine.
  [[nodiscard]] Result<std::vector<Buffer>> execute(const Executable& executable,
                                                    const std::vector<PJRT_Buffer*>& arguments,
                                                    const std::vector<int64_t>& kept, size_t results) const;
  // Errors: kEngine, also when what failed is the run that made the buffer.
  [[nodiscard]] Status download(const Buffer& buffer, std::span<std::byte> out) const;
  [[nodiscard]] Result<std::vector<int64_t>> sizes(const Buffer& buffer) const;
  [[nodiscard]] Result<PJRT_Buffer_Type> type(const Buffer& buffer) const;

 private:
  [[nodiscard]] Status start();
  // Frees the error. `what` was tried.
  [[nodiscard]] Status check(PJRT_Error* error, std::string_view what) const;
  [[nodiscard]] Status wait(PJRT_Event* event, std::string_view what) const;
  [[nodiscard]] Result<Buffer> from_host(DType dtype, std::span<const int64_t> sizes, std::span<const std::byte> bytes,
                                         PJRT_HostBufferSemantics semantics, bool& held) const;
  [[nodiscard]] Buffer own(PJRT_Buffer* buffer) const;

  const PJRT_Api& api_;
  PJRT_Client* client_{};
  PJRT_Device* device_{};
};

[[nodiscard]] PJRT_Buffer_Type buffer_type(DType dtype);

}  // namespace headrace::pjrt
