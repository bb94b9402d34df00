#include <memory>

#include "exporter/export.h"
#include "tools/command.h"
#include "tools/text.h"

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
  return {{"architecture", inspection.architecture},
          {"parameters", inspection.parameter_count},
          {"tensors", inspection.tensor_count},
          {"data_bytes", inspection.data_bytes},
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
  out += fmt::format("{} tensors, {} weights, {}", inspection.tensor_count, count_text(inspection.parameter_count),
                     bytes_text(inspection.data_bytes));
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
  if (!inspection.warnings.empty()) out += list("warnings", inspection.warnings);
  if (inspection.faults.empty()) return out + "\nan export would be accepted\n";
  return out + list("an export would be refused", inspection.faults);
}

}  // namespace

Run declare_inspect(CLI::App& app) {
  auto path = std::make_shared<std::string>();
  app.add_option("MODEL", *path, "A GGUF file; of a split model, any part")->required()->type_name("");
  return [path](Output& output) -> Status {
    HR_TRY(const Inspection inspection, inspect_model(*path));
    if (output.json()) {
      output.document(to_json(inspection));
    } else {
      output.text(to_text(inspection));
    }
    return {};
  };
}

}  // namespace headrace::tools
