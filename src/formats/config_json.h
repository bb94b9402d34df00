// The JSON files that lie beside safetensors, flattened into metadata.
//
//   file                      keys                                        members
//   config.json               as they are: "hidden_size"                  all; the file must be there
//   generation_config.json    after "generation_config."                  all
//   tokenizer_config.json     after "tokenizer_config."                   kTokenizerMembers
//
// Flattened: the members of an object are joined to its key by a dot ("rope_parameters.rope_type"). So that every key
// has one meaning, a member's name must pass is_key (names.h) and hold no dot. Dictionaries of anybody's words
// (id2label) are left out; an empty object is the string "{}".
//
//   integer          int64_t, or uint64_t where it is larger
//   other number     double
//   null             std::monostate
//   list             MetaArray of its items' kind: bool, int64_t (uint64_t where one is larger), double (integers among
//                    them, too), string; of no items: int64_t. A list that is of no one kind, or holds lists, objects
//                    or null, is a string: its JSON, the first 4,096 bytes of it.
//   object           its members; nothing if it has none
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "formats/checkpoint.h"
#include "formats/header_reader.h"

namespace headrace {

inline constexpr std::string_view kConfigFile = "config.json";
inline constexpr std::string_view kTokenizerMembers[] = {"add_bos_token", "add_eos_token", "bos_token", "eos_token",
                                                         "tokenizer_class"};

// Adds the members of one file's text to `metadata`, each after `prefix` (empty, or ends in a dot). Where `only` names
// members, the others are left out. Messages start with `place`. Errors: kConfigFile.
[[nodiscard]] Status flatten_config(std::string_view text, std::string_view place, std::string_view prefix,
                                    std::span<const std::string_view> only,
                                    std::map<std::string, MetaValue, std::less<>>& metadata);

// The same for all files of the table that a directory has; their bytes are added to `hash` in the table's order.
// Errors: kConfigFile, kFileOpen, kFileRead.
[[nodiscard]] Result<std::map<std::string, MetaValue, std::less<>>> read_configs(const std::string& directory,
                                                                                 HeaderHash& hash);

}  // namespace headrace
