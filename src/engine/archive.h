// The weights of an export: its archives, mapped read-only.
//
// Mapping is for our own files only: they are named by content and never change in place. (Checkpoints are read by
// position, see formats/file.h.)
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "interp/interpreter.h"
#include "weights/load.h"

namespace headrace {

class Archive {
 public:
  // Maps every archive that the manifest names. load_export has compared the archives' headers with the manifest; what
  // keeps a read inside the mapping is checked here again. Errors: kFileOpen, kFileRead; kArchive, all faults together:
  // a file of another size, a parameter whose range does not lie in its file or does not hold its shape.
  // An export without weights opens; find() then says so.
  [[nodiscard]] static Result<std::shared_ptr<const Archive>> open(const LoadedExport& loaded);

  struct Entry {
    DType dtype{};
    std::vector<int64_t> shape;
    std::span<const std::byte> bytes;
    std::shared_ptr<const void> owner;  // keeps the mapping; null when the parameter was not written
  };
  // Errors: kArchive when there is no such parameter, or it was not written (`--weights none`).
  [[nodiscard]] Result<const Entry*> find(const std::string& parameter) const;

 private:
  Archive() = default;
  std::unordered_map<std::string, Entry> entries_;
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
