// Which functions of an export a decoder can call: the manifest read against the forms of docs/manifest.md. Internal to
// the engine part.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "engine/decoder.h"

namespace headrace {

// The function, where the export has it and the engine a program for it; nothing where not. Errors: kInput when it is
// there but has another form, or a batch other than 1.
[[nodiscard]] Result<std::optional<DecodeFunction>> find_decode_function(const Manifest& manifest,
                                                                         std::span<const EngineProgram> programs,
                                                                         std::string_view function);

// Ids are below it: what the logits have room for, and what the tokenizer says. Errors: kInput when nothing says so.
[[nodiscard]] Result<int64_t> vocabulary_of(const Manifest& manifest);

// Errors: kInput for an id outside [0, vocabulary), naming its position.
[[nodiscard]] Status check_token(int64_t token, int64_t position, int64_t vocabulary);

// How many tokens a row of caches can hold. Errors: kInput, naming the function, when the manifest does not say so.
[[nodiscard]] Result<int64_t> cache_capacity(const Manifest& manifest, std::string_view function);

}  // namespace headrace
