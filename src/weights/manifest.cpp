#include "weights/manifest.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "base/checked.h"
#include "weights/manifest_fields.h"

namespace headrace {
namespace {

template <class Items>
auto* find_named(Items& items, std::string_view name) {
  const auto it = std::find_if(items.begin(), items.end(), [name](const auto& item) { return item.name == name; });
  return it == items.end() ? nullptr : &*it;
}

// A relative path that stays inside the export: plain components, no "..", nothing hidden.
bool is_safe_path(std::string_view path) {
  if (path.empty() || path.find('\0') != std::string_view::npos || path.size() > 4096) return false;
  while (true) {
    const size_t slash = path.find('/');
    const auto part = path.substr(0, slash);
    if (part.empty() || part.front() == '.') return false;
    if (slash == std::string_view::npos) return true;
    path.remove_prefix(slash + 1);
  }
}

bool is_xxh3(std::string_view text) {
  return text.size() == 32 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

class Checker {
 public:
  Checker(const Manifest& manifest, std::vector<std::string>& faults) : manifest_(manifest), faults_(faults) {}

  void run() {
    check_texts();
    check_archives();
    check_parameters();
    unique("functions", manifest_.functions, [](const auto& f) { return f.name; });
    for (size_t i = 0; i < manifest_.functions.size(); ++i)
      check_function(manifest_.functions[i], fmt::format("functions[{}]", i));
    if (manifest_.kv) check_kv(*manifest_.kv);
    if (!texts_.contains(manifest_.module_file)) fault("module: '{}' is not one of texts", manifest_.module_file);
    if (const auto& t = manifest_.tokenizer; t && t->pieces_file && !texts_.contains(*t->pieces_file))
      fault("tokenizer.pieces: '{}' is not one of texts", *t->pieces_file);
    if (const auto& t = manifest_.tokenizer; t && t->chat_file && !texts_.contains(*t->chat_file))
      fault("tokenizer.chat: '{}' is not one of texts", *t->chat_file);
    if (!is_xxh3(manifest_.source.header_xxh3)) fault("source.header_xxh3: not 32 lower-case hex digits");
  }

 private:
  template <class... Args>
  void fault(fmt::format_string<Args...> format, Args&&... args) {
    if (faults_.size() < 20) faults_.push_back(fmt::format(format, std::forward<Args>(args)...));
  }

  template <class Items, class Key>
  void unique(std::string_view path, const Items& items, Key key) {
    std::set<std::string, std::less<>> seen;
    for (size_t i = 0; i < items.size(); ++i)
      if (!seen.insert(std::string(key(items[i]))).second) fault("{}[{}]: '{}' is repeated", path, i, key(items[i]));
  }

  void check_texts() {
    unique("texts", manifest_.texts, [](const auto& t) { return t.file; });
    unique("texts", manifest_.texts, [](const auto& t) { return t.link; });
    for (size_t i = 0; i < manifest_.texts.size(); ++i) {
      const auto& text = manifest_.texts[i];
      if (!is_safe_path(text.file)) fault("texts[{}].file: '{}' is not a path inside the export", i, text.file);
      if (!is_safe_path(text.link)) fault("texts[{}].link: '{}' is not a path inside the export", i, text.link);
      if (!is_xxh3(text.xxh3)) fault("texts[{}].xxh3: not 32 lower-case hex digits", i);
      texts_.insert(text.file);
    }
  }

  void check_archives() {
    unique("archives", manifest_.archives, [](const auto& a) { return a.file; });
    for (size_t i = 0; i < manifest_.archives.size(); ++i) {
      const auto& archive = manifest_.archives[i];
      if (!is_safe_path(archive.file))
        fault("archives[{}].file: '{}' is not a path inside the export", i, archive.file);
      archives_.emplace(archive.file, archive.size_bytes);
    }
  }

  void check_parameters() {
    unique("parameters", manifest_.parameters, [](const auto& p) { return p.name; });
    for (size_t i = 0; i < manifest_.parameters.size(); ++i) {
      const auto& p = manifest_.parameters[i];
      parameters_.insert(p.name);
      const bool negative = std::any_of(p.shape.begin(), p.shape.end(), [](int64_t d) { return d < 0; });
      const auto count = checked_product(p.shape);
      const auto bytes = count ? checked_mul(*count, storage_bytes(p.dtype)) : std::nullopt;
      if (negative || !bytes) {
        fault("parameters[{}].shape: not the shape of a tensor", i);
      } else if (!p.file && !p.offset_bytes && !p.length_bytes && !p.xxh3) {
        continue;  // not written
      } else if (!p.file || !p.offset_bytes || !p.length_bytes || !p.xxh3) {
        fault("parameters[{}]: file, offset_bytes, length_bytes and xxh3 must all be set or all be null", i);
      } else {
        check_range(p, static_cast<uint64_t>(*bytes), i);
      }
    }
  }

  void check_range(const ManifestParameter& p, uint64_t bytes, size_t i) {
    const auto archive = archives_.find(*p.file);
    const auto end = checked_add(*p.offset_bytes, *p.length_bytes);
    if (archive == archives_.end()) fault("parameters[{}].file: '{}' is not one of archives", i, *p.file);
    if (*p.length_bytes != bytes)
      fault("parameters[{}].length_bytes: {}, but {} elements of {} are {} bytes", i, *p.length_bytes,
            bytes / static_cast<uint64_t>(storage_bytes(p.dtype)), name(p.dtype), bytes);
    if (archive != archives_.end() && (!end || *end > archive->second))
      fault("parameters[{}]: ends past the {} bytes of '{}'", i, archive->second, *p.file);
    if (!is_xxh3(*p.xxh3)) fault("parameters[{}].xxh3: not 32 lower-case hex digits", i);
  }

  void check_kv(const ManifestKv& kv) {
    const auto word = [&](std::string_view field, std::string_view value,
                          std::initializer_list<std::string_view> known) {
      if (std::ranges::find(known, value) == known.end())
        fault("kv.{}: '{}', expected {}", field, value, fmt::join(known, " or "));
    };
    word("extent", kv.extent, {"concat", "static"});
    word("local", kv.local, {"same", "ring"});
    word("storage", kv.storage, {"args", "globals"});
    if (kv.capacity < 1 || kv.capacity > INT32_MAX) fault("kv.capacity: {}, expected 1 to {}", kv.capacity, INT32_MAX);
    if (kv.batch < 1) fault("kv.batch: {}, expected 1 or more", kv.batch);
    // What is wrong with one layer is so with all.
    const size_t before = faults_.size();
    for (size_t i = 0; i < kv.layers.size() && faults_.size() == before; ++i) check_kv_layer(kv, i);
    const auto shapes = cache_shapes(kv);
    for (const ManifestFunction& f : manifest_.functions)
      for (const ManifestArgument& argument : f.arguments)
        if (faults_.size() == before) check_cache(kv, shapes, f, argument);
  }

  void check_kv_layer(const ManifestKv& kv, size_t i) {
    const ManifestKvLayer& layer = kv.layers[i];
    if (layer.heads < 1 || layer.key_width < 1 || layer.value_width < 1 || layer.window < 0)
      return fault("kv.layers[{}]: heads {}, widths {} and {}, window {}", i, layer.heads, layer.key_width,
                   layer.value_width, layer.window);
    const bool is_ring = kv.local == "ring" && layer.window > 0;
    if (layer.slots && !is_ring && *layer.slots != kv.capacity)
      fault("kv.layers[{}].slots: {}, and the capacity is {}", i, *layer.slots, kv.capacity);
    if (!layer.slots && (kv.extent == "static" || is_ring)) fault("kv.layers[{}].slots: null, expected a number", i);
  }

  // `cache.<layer>.k` and `.v` by their names.
  static std::unordered_map<std::string, Shape> cache_shapes(const ManifestKv& kv) {
    std::unordered_map<std::string, Shape> out;
    for (const ManifestKvLayer& layer : kv.layers) {
      const Dim slots = layer.slots ? Dim(*layer.slots) : Dim::symbol("past");
      out.emplace(fmt::format("cache.{}.k", layer.layer), Shape{kv.batch, layer.heads, slots, layer.key_width});
      out.emplace(fmt::format("cache.{}.v", layer.layer), Shape{kv.batch, layer.heads, slots, layer.value_width});
    }
    return out;
  }

  void check_cache(const ManifestKv& kv, const std::unordered_map<std::string, Shape>& shapes,
                   const ManifestFunction& f, const ManifestArgument& cache) {
    if (cache.kind != ValueKind::kCache) return;
    const auto expected = shapes.find(cache.name);
    if (expected != shapes.end()) {
      if (cache.shape != expected->second || cache.dtype != kv.dtype)
        fault("function '{}': '{}' is {}{}, and kv says {}{}", f.name, cache.name, name(cache.dtype),
              to_string(cache.shape), name(kv.dtype), to_string(expected->second));
    } else if (cache.name.starts_with("cache.") && cache.name != "cache.positions") {
      fault("function '{}': kv has no layer for '{}'", f.name, cache.name);
    }
  }

  // A target's values for some of the function's symbols.
  void check_symbols(const ManifestFunction& f, const std::map<std::string, int64_t>& symbols,
                     const std::string& path) {
    for (const auto& [symbol, value] : symbols) {
      const ManifestSymbol* known = find_named(f.symbols, symbol);
      if (known == nullptr)
        fault("{}.symbols: '{}' is not one of the function's", path, symbol);
      else if (value < 1 || value < known->min || value > known->max)
        fault("{}.symbols: '{}' is {}, expected {} to {}", path, symbol, value, std::max<int64_t>(known->min, 1),
              known->max);
    }
  }

  void check_pairs(const std::vector<ManifestPair>& pairs, size_t arguments, size_t results, const std::string& path) {
    std::set<int64_t> seen_arguments;
    std::set<int64_t> seen_results;
    for (const auto& pair : pairs)
      if (!seen_arguments.insert(pair.argument).second || !seen_results.insert(pair.result).second)
        fault("{}: pair ({}, {}) shares a side with another", path, pair.argument, pair.result);
    for (const auto& pair : pairs)
      if (pair.argument < 0 || static_cast<size_t>(pair.argument) >= arguments || pair.result < 0 ||
          static_cast<size_t>(pair.result) >= results)
        fault("{}: pair ({}, {}) is out of range", path, pair.argument, pair.result);
  }

  void check_function(const ManifestFunction& f, const std::string& path) {
    unique(path + ".arguments", f.arguments, [](const auto& a) { return a.name; });
    unique(path + ".results", f.results, [](const auto& r) { return r.name; });
    unique(path + ".symbols", f.symbols, [](const auto& s) { return s.name; });
    for (const auto& s : f.symbols)
      if (s.min > s.max) fault("{}.symbols: '{}' has min {} above max {}", path, s.name, s.min, s.max);
    const auto check_shape = [&](const ManifestArgument& a) {
      for (const auto& dim : a.shape)
        for (const auto& [symbol, factor] : dim.terms())
          if (find_named(f.symbols, symbol) == nullptr)
            fault("{}: '{}' uses unknown symbol '{}'", path, a.name, symbol);
    };
    std::for_each(f.arguments.begin(), f.arguments.end(), check_shape);
    std::for_each(f.results.begin(), f.results.end(), check_shape);
    check_pairs(f.state, f.arguments.size(), f.results.size(), path + ".state");
    for (size_t i = 0; i < f.targets.iree.size(); ++i) {
      const std::string target = fmt::format("{}.targets.iree[{}]", path, i);
      if (!texts_.contains(f.targets.iree[i].file))
        fault("{}.file: '{}' is not one of texts", target, f.targets.iree[i].file);
      check_symbols(f, f.targets.iree[i].symbols, target);
    }
    for (size_t i = 0; i < f.targets.xla.size(); ++i) check_xla(f, i, fmt::format("{}.targets.xla[{}]", path, i));
  }

  void check_xla(const ManifestFunction& f, size_t index, const std::string& path) {
    const auto& xla = f.targets.xla[index];
    if (!texts_.contains(xla.file)) fault("{}.file: '{}' is not one of texts", path, xla.file);
    check_symbols(f, xla.symbols, path);
    std::set<std::string> wanted;
    for (const auto& a : f.arguments) wanted.insert(a.name);
    if (std::set<std::string>(xla.arguments.begin(), xla.arguments.end()) != wanted ||
        xla.arguments.size() != f.arguments.size())
      fault("{}.arguments: not the function's arguments, each once", path);
    for (const auto& p : xla.parameters)
      if (!parameters_.contains(p)) fault("{}.parameters: '{}' is not one of parameters", path, p);
    unique(path + ".parameters", xla.parameters, [](const auto& p) { return p; });
    check_pairs(xla.donations, xla.arguments.size(), f.results.size(), path + ".donations");
  }

  const Manifest& manifest_;
  std::vector<std::string>& faults_;
  std::set<std::string, std::less<>> texts_;
  std::set<std::string, std::less<>> parameters_;
  std::unordered_map<std::string, uint64_t> archives_;
};

}  // namespace

void manifest_detail::check_manifest(const Manifest& manifest, std::vector<std::string>& faults) {
  Checker(manifest, faults).run();
}

const ManifestFunction* Manifest::find(std::string_view function) const { return find_named(functions, function); }
const ManifestParameter* Manifest::parameter(std::string_view parameter) const {
  return find_named(parameters, parameter);
}

std::vector<std::string> manifest_files(const Manifest& manifest) {
  std::set<std::string> files;
  for (const auto& text : manifest.texts) files.insert(text.file);
  for (const auto& archive : manifest.archives) files.insert(archive.file);
  return {files.begin(), files.end()};
}

}  // namespace headrace
