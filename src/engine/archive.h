// The weights of an export, read from its archives by position when they are first asked for and kept. Not mapped: a
// file that is cut short under a mapping is a signal, not an error.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "formats/file.h"
#include "interp/interpreter.h"
#include "weights/load.h"

namespace headrace {

class Archive {
 public:
  // Opens every archive that the manifest names. load_export has compared the archives' headers with the manifest; what
  // keeps a read inside its file is checked here again. Errors: kFileOpen, kFileRead; kArchive, all faults together: a
  // file of another size, a parameter whose range does not lie in its file or does not hold its shape.
  // An export without weights opens; bytes() then says so.
  [[nodiscard]] static Result<std::shared_ptr<const Archive>> open(const LoadedExport& loaded);

  // A parameter's bytes, 64-byte aligned, shared with whoever asked before. May be called from several threads at once.
  struct Bytes {
    DType dtype{};
    std::vector<int64_t> shape;
    std::span<const std::byte> bytes;
    std::shared_ptr<const void> owner;
  };
  // Errors: kArchive when there is no such parameter, or it was not written (`--weights none`); kFileRead;
  // kMemoryLimit.
  [[nodiscard]] Result<Bytes> bytes(const std::string& parameter) const;
  // The same, read anew and kept by nobody but the caller: for who places weights elsewhere.
  [[nodiscard]] Result<Bytes> read(const std::string& parameter) const;

 private:
  struct Entry {
    DType dtype{};
    std::vector<int64_t> shape;
    const InputFile* file{};  // null when the parameter was not written
    uint64_t offset_bytes{};
    uint64_t length_bytes{};
    mutable std::optional<Bytes> kept = {};  // guarded by lock_
  };

  Archive() = default;
  [[nodiscard]] Result<const Entry*> find(const std::string& parameter) const;
  std::unordered_map<std::string, InputFile> files_;
  std::unordered_map<std::string, Entry> entries_;
  mutable std::mutex lock_;
};

// Parameters from an archive: views where the archive holds f32 and F is float, converted on each load otherwise.
template <class F>
class ArchiveParameters final : public ParameterSource<F> {
 public:
  explicit ArchiveParameters(std::shared_ptr<const Archive> archive) : archive_(std::move(archive)) {}
  // Errors: kArchive when the archive's dtype or shape is not the module's.
  [[nodiscard]] Result<HostTensor<F>> load(const Parameter& parameter) const override;

 private:
  std::shared_ptr<const Archive> archive_;
};

}  // namespace headrace
