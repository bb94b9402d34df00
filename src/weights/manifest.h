// manifest.json, version 1: the contract of an export. It alone says which files belong to the export, how each
// function is called and where each parameter lies. docs/manifest.md describes every field with an example.
//
// Reading is strict about what it uses: missing fields, wrong types, repeated keys, unknown versions and unknown
// `requires` features are errors. Fields it does not know are skipped: what a reader must understand goes into
// `requires`.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/dtype.h"
#include "base/result.h"
#include "base/shape.h"
#include "ir/module.h"
#include "quant/rounding.h"

namespace headrace {

inline constexpr std::string_view kManifestFile = "manifest.json";
inline constexpr std::string_view kManifestFormat = "headrace.manifest";
inline constexpr int64_t kManifestVersion = 1;
// Feature: an iree entry without the arguments and results that are caches.
inline constexpr std::string_view kFeatureGlobals = "state-in-globals";

// A configuration or option value.
using ManifestValue = std::variant<bool, int64_t, double, std::string, std::vector<bool>, std::vector<int64_t>,
                                   std::vector<double>, std::vector<std::string>>;

struct ManifestTool {
  std::string name{"headrace"};
  std::string version;
  friend bool operator==(const ManifestTool&, const ManifestTool&) = default;
};

struct ManifestSourceFile {
  std::string name;  // without directories: the export says what it came from, not where that lay
  uint64_t size_bytes{};
  friend bool operator==(const ManifestSourceFile&, const ManifestSourceFile&) = default;
};

struct ManifestSource {
  std::string container;  // "gguf", "safetensors"
  std::vector<ManifestSourceFile> files = {};
  std::string header_xxh3;  // Checkpoint::header_xxh3
  friend bool operator==(const ManifestSource&, const ManifestSource&) = default;
};

// One configuration value and where it comes from: "key llama.block_count", "documented default", "tensor <name>".
struct ManifestConfig {
  std::string key;
  ManifestValue value;
  std::string origin;
  friend bool operator==(const ManifestConfig&, const ManifestConfig&) = default;
};

struct ManifestModel {
  std::string name;
  std::string architecture;
  std::vector<ManifestConfig> configuration = {};
  friend bool operator==(const ManifestModel&, const ManifestModel&) = default;
};

struct ManifestTokenizer {
  std::string kind;  // the container's word: "gpt2", "llama"
  int64_t vocabulary{};
  std::optional<int64_t> bos = std::nullopt;
  std::vector<int64_t> eos = {};               // any of them ends a text
  std::optional<bool> add_bos = std::nullopt;  // whether texts start with `bos`; null = the container does not say
  std::optional<std::string> pieces_file =
      {};  // what each token spells (tokenizer/pieces.h), one of `texts`; JSON: "pieces"
  std::optional<std::string> chat_file =
      {};  // chat templates (tokenizer/chat_template.h), one of `texts`; JSON: "chat"
  friend bool operator==(const ManifestTokenizer&, const ManifestTokenizer&) = default;
};

enum class ValueKind : uint8_t { kData, kCache };  // a cache result replaces the cache argument it is paired with

struct ManifestArgument {
  std::string name;
  ValueKind kind{};
  DType dtype{};
  Shape shape = {};  // JSON: integers, and strings such as "past + seq"
  friend bool operator==(const ManifestArgument&, const ManifestArgument&) = default;
};
using ManifestResult = ManifestArgument;

struct ManifestSymbol {
  std::string name;
  int64_t min{};
  int64_t max{};
  friend bool operator==(const ManifestSymbol&, const ManifestSymbol&) = default;
};

// Indices into arguments (of the program, parameters not counted) and results.
struct ManifestPair {
  int64_t argument{};
  int64_t result{};
  friend bool operator==(const ManifestPair&, const ManifestPair&) = default;
};

// One static function for XLA. It is called with `arguments` in this order, then `parameters` in this order.
struct ManifestXla {
  std::string file;
  std::string entry{"main"};
  std::map<std::string, int64_t> symbols = {};  // the values it was specialised for
  std::vector<std::string> arguments = {};      // names: data first, then caches
  std::vector<std::string> parameters = {};
  std::vector<ManifestPair> donations = {};
  friend bool operator==(const ManifestXla&, const ManifestXla&) = default;
};

// A function of the one IREE module. It is called with the function's arguments in their order; parameters are globals.
struct ManifestIree {
  std::string file;
  std::string entry;                            // "llama.score", "llama.score.128"
  std::map<std::string, int64_t> symbols = {};  // the values it was specialised for; a symbol not named is dynamic
  bool state_in_globals{};                      // caches are neither arguments nor results: the module keeps them
  friend bool operator==(const ManifestIree&, const ManifestIree&) = default;
};

struct ManifestTargets {
  // One per specialisation; empty = target not exported.
  std::vector<ManifestXla> xla = {};
  std::vector<ManifestIree> iree = {};
  friend bool operator==(const ManifestTargets&, const ManifestTargets&) = default;
};

// How keys and values are kept between calls (docs/functions.md).
struct ManifestKvLayer {
  int64_t layer{};
  int64_t heads{}, key_width{}, value_width{};
  int64_t window{};              // keys a query sees; 0: all
  std::optional<int64_t> slots;  // null: grows with each call
  friend bool operator==(const ManifestKvLayer&, const ManifestKvLayer&) = default;
};

struct ManifestKv {
  std::string extent;   // "concat", "static"
  int64_t capacity{};   // positions that a text can have
  std::string local;    // "same", "ring": what layers with a window keep
  std::string storage;  // "args", "globals"
  DType dtype{};
  int64_t batch{};
  int64_t bytes_per_token{};  // of one text
  int64_t fixed_bytes{};      // of one text, whatever its length: rings
  std::vector<ManifestKvLayer> layers = {};
  friend bool operator==(const ManifestKv&, const ManifestKv&) = default;
};

struct ManifestFunction {
  std::string name;
  std::vector<ManifestSymbol> symbols = {};
  std::vector<ManifestArgument> arguments = {};
  std::vector<ManifestResult> results = {};
  std::vector<ManifestPair> state = {};  // result `result` is the new value of argument `argument`
  ManifestTargets targets = {};
  friend bool operator==(const ManifestFunction&, const ManifestFunction&) = default;
};

// `file`, `offset_bytes`, `length_bytes` and `xxh3` are all set, or all null when the weights were not written.
struct ManifestParameter {
  std::string name;
  DType dtype{};
  std::vector<int64_t> shape = {};
  Role role{};
  std::optional<std::string> file = std::nullopt;
  std::optional<uint64_t> offset_bytes = std::nullopt;  // from the start of the file
  std::optional<uint64_t> length_bytes = std::nullopt;
  std::optional<std::string> xxh3 = std::nullopt;       // XXH3-128 of the bytes, 32 hex digits as xxh128sum prints them
  std::string recipe = {};                              // in words
  std::optional<RoundingLoss> rounding = std::nullopt;  // what a rounding step of the recipe lost; null: none did
  friend bool operator==(const ManifestParameter&, const ManifestParameter&) = default;
};

struct ManifestArchive {
  std::string file;
  std::string format;          // "safetensors"
  std::string scope{"model"};  // the name parameters have in IREE: "<scope>"::"<parameter>"
  uint64_t size_bytes{};
  friend bool operator==(const ManifestArchive&, const ManifestArchive&) = default;
};

// A text file of the export. `file` carries its content's hash in its name; `link` is the plain name beside it.
struct ManifestText {
  std::string file;  // "iree/model-0123456789abcdef.mlir"
  std::string link;  // "iree/model.mlir"
  uint64_t size_bytes{};
  std::string xxh3;
  friend bool operator==(const ManifestText&, const ManifestText&) = default;
};

// A line to paste into a shell in the export's directory.
struct ManifestCommand {
  std::string what;
  std::string line;
  friend bool operator==(const ManifestCommand&, const ManifestCommand&) = default;
};

struct Manifest {
  std::vector<std::string> requires_features = {};  // JSON: "requires"
  ManifestTool tool = {};
  std::map<std::string, ManifestValue> options = {};  // those that decide the bytes; not jobs, memory or progress
  ManifestSource source = {};
  ManifestModel model = {};
  std::optional<ManifestTokenizer> tokenizer = std::nullopt;
  std::optional<ManifestKv> kv = std::nullopt;  // null: no function has caches
  std::string module_file = {};                 // the HIR text, one of `texts`
  std::vector<ManifestFunction> functions = {};
  std::vector<ManifestParameter> parameters = {};
  std::vector<ManifestArchive> archives = {};
  std::vector<ManifestText> texts = {};
  std::vector<ManifestCommand> commands = {};
  friend bool operator==(const Manifest&, const Manifest&) = default;

  [[nodiscard]] const ManifestFunction* find(std::string_view function) const;
  [[nodiscard]] const ManifestParameter* parameter(std::string_view parameter) const;
};

// JSON text with a fixed order of keys and layout, ending in a newline: equal manifests give equal bytes. Strings that
// are not UTF-8 and floats that are not finite cannot be written. Errors: kManifest.
[[nodiscard]] Result<std::string> to_json(const Manifest& manifest);

// Errors: kManifest, each fault with the path of its field (`functions[0].arguments[1].dtype: ...`). Bounded: text over
// 64 MiB, nesting over 16 levels and more values than its size justifies are refused while the tree is built.
[[nodiscard]] Result<Manifest> from_json(std::string_view text);

// Every file the manifest names, each once, sorted: texts and archives.
[[nodiscard]] std::vector<std::string> manifest_files(const Manifest& manifest);

}  // namespace headrace
