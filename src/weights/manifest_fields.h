// The fields of each manifest struct, once, in the order they are written: both directions visit this list.
// Internal to the manifest's reader and writer.
#pragma once

#include <concepts>

#include "weights/manifest.h"

namespace headrace::manifest_detail {

// True when T is S, const or not.
template <class T, class S>
concept Is = std::same_as<std::remove_const_t<T>, S>;

void fields(auto& v, Is<ManifestTool> auto& m) {
  v("name", m.name);
  v("version", m.version);
}
void fields(auto& v, Is<ManifestSourceFile> auto& m) {
  v("name", m.name);
  v("size_bytes", m.size_bytes);
}
void fields(auto& v, Is<ManifestSource> auto& m) {
  v("container", m.container);
  v("files", m.files);
  v("header_xxh3", m.header_xxh3);
}
void fields(auto& v, Is<ManifestConfig> auto& m) {
  v("key", m.key);
  v("value", m.value);
  v("origin", m.origin);
}
void fields(auto& v, Is<ManifestModel> auto& m) {
  v("name", m.name);
  v("architecture", m.architecture);
  v("configuration", m.configuration);
}
void fields(auto& v, Is<ManifestTokenizer> auto& m) {
  v("kind", m.kind);
  v("vocabulary", m.vocabulary);
  v("bos", m.bos);
  v("eos", m.eos);
  v("add_bos", m.add_bos);
  v("pieces", m.pieces_file);
  v("chat", m.chat_file);
}
void fields(auto& v, Is<ManifestArgument> auto& m) {
  v("name", m.name);
  v("kind", m.kind);
  v("dtype", m.dtype);
  v("shape", m.shape);
}
void fields(auto& v, Is<ManifestSymbol> auto& m) {
  v("name", m.name);
  v("min", m.min);
  v("max", m.max);
}
void fields(auto& v, Is<ManifestPair> auto& m) {
  v("argument", m.argument);
  v("result", m.result);
}
void fields(auto& v, Is<ManifestXla> auto& m) {
  v("file", m.file);
  v("entry", m.entry);
  v("symbols", m.symbols);
  v("arguments", m.arguments);
  v("parameters", m.parameters);
  v("donations", m.donations);
}
void fields(auto& v, Is<ManifestIree> auto& m) {
  v("file", m.file);
  v("entry", m.entry);
  v("symbols", m.symbols);
  v("state_in_globals", m.state_in_globals);
}
void fields(auto& v, Is<ManifestTargets> auto& m) {
  v("xla", m.xla);
  v("iree", m.iree);
}
void fields(auto& v, Is<ManifestFunction> auto& m) {
  v("name", m.name);
  v("symbols", m.symbols);
  v("arguments", m.arguments);
  v("results", m.results);
  v("state", m.state);
  v("targets", m.targets);
}
void fields(auto& v, Is<ManifestKvLayer> auto& m) {
  v("layer", m.layer);
  v("heads", m.heads);
  v("key_width", m.key_width);
  v("value_width", m.value_width);
  v("window", m.window);
  v("slots", m.slots);
}
void fields(auto& v, Is<ManifestKv> auto& m) {
  v("extent", m.extent);
  v("capacity", m.capacity);
  v("local", m.local);
  v("storage", m.storage);
  v("dtype", m.dtype);
  v("batch", m.batch);
  v("bytes_per_token", m.bytes_per_token);
  v("fixed_bytes", m.fixed_bytes);
  v("layers", m.layers);
}
void fields(auto& v, Is<RoundingLoss> auto& m) {
  v("inexact", m.inexact);
  v("overflowed", m.overflowed);
  v("largest_error", m.largest_error);
}
void fields(auto& v, Is<ManifestParameter> auto& m) {
  v("name", m.name);
  v("dtype", m.dtype);
  v("shape", m.shape);
  v("role", m.role);
  v("file", m.file);
  v("offset_bytes", m.offset_bytes);
  v("length_bytes", m.length_bytes);
  v("xxh3", m.xxh3);
  v("recipe", m.recipe);
  v("rounding", m.rounding);
}
void fields(auto& v, Is<ManifestArchive> auto& m) {
  v("file", m.file);
  v("format", m.format);
  v("scope", m.scope);
  v("size_bytes", m.size_bytes);
}
void fields(auto& v, Is<ManifestText> auto& m) {
  v("file", m.file);
  v("link", m.link);
  v("size_bytes", m.size_bytes);
  v("xxh3", m.xxh3);
}
void fields(auto& v, Is<ManifestCommand> auto& m) {
  v("what", m.what);
  v("line", m.line);
}
// `format` and `version` come before these and are read first.
void fields(auto& v, Is<Manifest> auto& m) {
  v("requires", m.requires_features);
  v("tool", m.tool);
  v("options", m.options);
  v("source", m.source);
  v("model", m.model);
  v("tokenizer", m.tokenizer);
  v("kv", m.kv);
  v("module", m.module_file);
  v("functions", m.functions);
  v("parameters", m.parameters);
  v("archives", m.archives);
  v("texts", m.texts);
  v("commands", m.commands);
}

// The words for enums in JSON; indexed by the enum.
inline constexpr std::string_view kValueKindNames[] = {"data", "cache"};

// What must hold between fields: names are unique, references resolve, files are named safely, byte ranges fit. Appends
// one line per fault.
void check_manifest(const Manifest& manifest, std::vector<std::string>& faults);

}  // namespace headrace::manifest_detail
