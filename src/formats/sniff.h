// What a file is, by its first bytes: to choose the reader, and to say what someone gave us instead of a checkpoint.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "formats/checkpoint.h"

namespace headrace {

// As many first bytes as sniffing looks at.
inline constexpr size_t kSniffBytes = 512;

// The container that this version reads, or nullopt.
[[nodiscard]] std::optional<ContainerKind> sniff_container(std::string_view first_bytes);
// What a file that is no container is, if it is a thing with a name.
[[nodiscard]] std::optional<std::string> foreign_file(std::string_view first_bytes, uint64_t file_bytes);
// Of a file that should be a JSON object: what it is instead, if it is a thing with a name.
[[nodiscard]] std::optional<std::string> foreign_json(std::string_view text);
// What else it is, for people: `a git-LFS pointer, not the weights (fetch them with git lfs pull)`.
[[nodiscard]] std::string describe_file(std::string_view first_bytes, uint64_t file_bytes);

}  // namespace headrace
