#include <algorithm>
#include <memory>

#include "exporter/export.h"
#include "exporter/inspect_tensor.h"
#include "formats/meta.h"
#include "tools/command.h"
#include "tools/text.h"
#include "tools/usage.h"

namespace headrace::tools {
namespace {

double bits_per_weight(uint64_t bytes, uint64_t elements) {
  return elements == 0 ? 0 : 8 * static_cast<double>(bytes) / static_cast<double>(elements);
}

Json to_json(const Inspection& inspection) {
  Json config = Json::array();
  for (const ConfigEntry& entry : inspection.config)
    config.push_back({{"name", entry.name}, {"value", entry.value}, {"origin", entry.origin}});
  Json types = Json::array();
  for (const auto& use : inspection.types)
    types.push_back({{"type", use.type},
                     {"tensors", use.tensors},
                     {"elements", use.elements},
                     {"bytes", use.bytes},
                     {"bits_per_weight", bits_per_weight(use.bytes, use.elements)}});
  Json files = Json::array();
  for (const auto& file : inspection.files)
    files.push_back({{"name", as_utf8(file.name)}, {"bytes", file.bytes}, {"tensors", file.tensors}});
  return {{"architecture", inspection.architecture},
          {"files", std::move(files)},
          {"parameters", inspection.parameter_count},
          {"tensors", inspection.tensor_count},
          {"data_bytes", inspection.data_bytes},
          {"bits_per_weight", bits_per_weight(inspection.data_bytes, inspection.parameter_count)},
          {"tied_head", inspection.tied_head ? Json(*inspection.tied_head) : Json(nullptr)},
          {"configuration", std::move(config)},
          {"types", std::move(types)},
          {"export", {{"accepted", inspection.faults.empty()}, {"faults", inspection.faults}}},
          {"warnings", inspection.warnings}};
}

std::string list(std::string_view heading, const std::vector<std::string>& lines) {
  std::string out = fmt::format("\n{}\n", heading);
  for (const std::string& line : lines) out += "  " + printable(line) + "\n";
  return out;
}

std::string to_text(const Inspection& inspection) {
  std::string out = fmt::format("architecture {}\n",
                                inspection.architecture.empty() ? "unknown" : printable(inspection.architecture));
  out += fmt::format("{} tensors, {} weights, {}, {:.2f} bits/weight", inspection.tensor_count,
                     count_text(inspection.parameter_count), bytes_text(inspection.data_bytes),
                     bits_per_weight(inspection.data_bytes, inspection.parameter_count));
  if (inspection.tied_head)
    out += *inspection.tied_head ? ", tied head (the embedding is the output matrix)" : ", own output matrix";
  out += "\n";
  if (!inspection.config.empty()) {
    std::vector<std::vector<std::string>> rows;
    for (const ConfigEntry& entry : inspection.config)
      rows.push_back({printable(entry.name), printable(entry.value), printable(entry.origin)});
    out += "\nconfiguration\n" + columns(rows, "  ");
  }
  std::vector<std::vector<std::string>> rows = {{"type", "tensors", "weights", "bytes", "bits/weight"}};
  for (const auto& use : inspection.types)
    rows.push_back({use.type, fmt::format("{}", use.tensors), fmt::format("{}", use.elements),
                    fmt::format("{}", use.bytes), fmt::format("{:.2f}", bits_per_weight(use.bytes, use.elements))});
  out += "\ntensors by type\n" + columns(rows, "  ", {1, 2, 3, 4});
  if (inspection.files.size() > 1) {
    rows = {{"file", "tensors", "bytes"}};
    for (const auto& file : inspection.files)
      rows.push_back({printable(file.name), fmt::format("{}", file.tensors), fmt::format("{}", file.bytes)});
    out += "\nfiles\n" + columns(rows, "  ", {1, 2});
  }
  if (!inspection.warnings.empty()) out += list("warnings", inspection.warnings);
  if (inspection.faults.empty()) return out + "\nan export would be accepted\n";
  return out + list("an export would be refused", inspection.faults);
}

Json to_json(const TensorStatistics& t) {
  return {{"name", t.name},
          {"type", t.type},
          {"shape", t.shape},
          {"file", as_utf8(t.file)},
          {"offset_bytes", t.offset_bytes},
          {"bytes", t.length_bytes},
          {"elements", t.elements},
          {"min", t.min},
          {"max", t.max},
          {"mean", t.mean},
          {"rms", t.rms},
          {"zeros", t.zeros},
          {"nans", t.nans},
          {"infinities", t.infinities},
          {"histogram", t.histogram}};
}

// A bar of eighths of a character, `width` characters for the largest.
std::string bar(uint64_t count, uint64_t largest, size_t width) {
  constexpr std::string_view kEighths[] = {"", "\u258F", "\u258E", "\u258D", "\u258C", "\u258B", "\u258A", "\u2589"};
  const double length =
      largest == 0 ? 0 : static_cast<double>(count) * static_cast<double>(8 * width) / static_cast<double>(largest);
  const auto eighths = count == 0 ? size_t{0} : std::max<size_t>(1, static_cast<size_t>(length));
  std::string out;
  for (size_t i = 0; i < eighths / 8; ++i) out += "\u2588";
  return out + std::string(kEighths[eighths % 8]);
}

std::string to_text(const TensorStatistics& t) {
  std::string out = fmt::format("{}  {} [{}]\n", printable(t.name), t.type, fmt::join(t.shape, ", "));
  out += fmt::format("{} weights, {} at {} of {}, {:.2f} bits/weight\n\n", count_text(t.elements),
                     bytes_text(t.length_bytes), t.offset_bytes, printable(t.file),
                     bits_per_weight(t.length_bytes, t.elements));
  std::vector<std::vector<std::string>> rows;
  for (const auto& [name, value] : {std::pair{"min", t.min}, {"max", t.max}, {"mean", t.mean}, {"rms", t.rms}})
    rows.push_back({name, fmt::format("{:.6g}", value)});
  for (const auto& [name, value] : {std::pair{"zeros", t.zeros}, {"NaN", t.nans}, {"infinite", t.infinities}})
    rows.push_back({name, fmt::format("{}", value)});
  out += columns(rows, "  ", {1});
  const uint64_t largest = *std::ranges::max_element(t.histogram);
  if (largest == 0) return out;
  rows.clear();
  for (size_t i = 0; i < t.histogram.size(); ++i) {
    const double from = t.min + (t.max - t.min) * static_cast<double>(i) / static_cast<double>(t.histogram.size());
    rows.push_back({fmt::format("{:.3g}", from), fmt::format("{}", t.histogram[i]), bar(t.histogram[i], largest, 40)});
  }
  return out + "\nvalues from\n" + columns(rows, "  ", {0, 1});
}

Json to_json(const MetaValue& value) {
  const auto items = [](const auto& list) {
    Json out = Json::array();
    for (const auto& item : list) {
      if constexpr (std::is_same_v<std::decay_t<decltype(list)>, std::vector<std::string>>) {
        out.push_back(as_utf8(item));
      } else {
        out.push_back(item);
      }
    }
    return out;
  };
  return std::visit(
      [&](const auto& held) -> Json {
        using T = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<T, std::monostate>)
          return nullptr;
        else if constexpr (std::is_same_v<T, std::string>)
          return as_utf8(held);
        else if constexpr (std::is_same_v<T, MetaArray>)
          return std::visit(items, held);
        else
          return held;
      },
      value.value);
}

struct Typed {
  std::string path, tensor, key;
};

Status show_tensor(const Typed& typed, Output& output) {
  Warnings warnings;
  HR_TRY(const Checkpoint checkpoint, open_checkpoint(typed.path, warnings));
  output.warnings(warnings);
  HR_TRY(const TensorStatistics statistics, tensor_statistics(checkpoint, typed.tensor));
  output.json() ? output.document(to_json(statistics)) : output.text(to_text(statistics));
  return {};
}

// One key, or all whose names start so when it ends in a dot.
Status show_keys(const Typed& typed, Output& output) {
  Warnings warnings;
  HR_TRY(const Checkpoint checkpoint, open_checkpoint(typed.path, warnings));
  output.warnings(warnings);
  Json document = Json::object();
  std::vector<std::vector<std::string>> rows;
  for (const auto& [key, value] : checkpoint.metadata) {
    if (key != typed.key && !(typed.key.ends_with('.') && key.starts_with(typed.key))) continue;
    document[as_utf8(key)] = to_json(value);
    rows.push_back({printable(key), printable(describe(value))});
  }
  if (rows.empty())
    return fail(ErrorCode::kInput, "there is no key '{}' among the {}", typed.key, checkpoint.metadata.size());
  output.json() ? output.document(document) : output.text(columns(rows, ""));
  return {};
}

Status show_model(const Typed& typed, Output& output) {
  HR_TRY(const Inspection inspection, inspect_model(typed.path));
  output.json() ? output.document(to_json(inspection)) : output.text(to_text(inspection));
  return {};
}

}  // namespace

Run declare_inspect(CLI::App& app) {
  auto typed = std::make_shared<Typed>();
  app.add_option("MODEL", typed->path, "A GGUF file (of a split model, any part), or a directory with safetensors")
      ->required()
      ->type_name("");
  app.add_option("--tensor", typed->tensor, "One tensor: its shape, type, place, and what its values are like")
      ->type_name("NAME");
  app.add_option("--key", typed->key, "One key of the metadata; with a dot at the end, all that start so")
      ->type_name("KEY");
  return [typed](Output& output) -> Status {
    if (!typed->tensor.empty() && !typed->key.empty()) wrong_usage("--tensor and --key: one of them at a time");
    if (!typed->tensor.empty()) return show_tensor(*typed, output);
    if (!typed->key.empty()) return show_keys(*typed, output);
    return show_model(*typed, output);
  };
}

}  // namespace headrace::tools
