#include "weights/weights_testing.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "formats/gguf_testing.h"
#include "weights/commit.h"
#include "weights/hash.h"
#include "weights/load.h"

namespace headrace::testing {
namespace {

uint64_t row_elements(const Recipe& recipe) { return static_cast<uint64_t>(recipe.outputs[0].type.shape[1].value()); }

Result<StepUnit> int8_unit(const Recipe& recipe, const SourceRange* /*source*/) {
  const uint64_t row = row_elements(recipe);
  return StepUnit{.in_bytes = row * 4, .out_bytes = {row, 4}};
}
void int8_apply(const StepRun& run, std::span<const std::byte> in, std::span<const std::span<std::byte>> out) {
  const size_t row = row_elements(*run.recipe);
  std::vector<float> x(row);
  for (size_t r = 0; r * row * 4 < in.size(); ++r) {
    std::memcpy(x.data(), in.data() + r * row * 4, row * 4);
    float max = 0;
    for (const float v : x) max = std::max(max, std::fabs(v));
    const float scale = max / 127;
    for (size_t i = 0; i < row; ++i)
      out[0][r * row + i] = static_cast<std::byte>(static_cast<int8_t>(std::lround(scale == 0 ? 0 : x[i] / scale)));
    std::memcpy(out[1].data() + r * 4, &scale, 4);
  }
}
Result<StepUnit> counting_unit(const Recipe& /*recipe*/, const SourceRange* /*source*/) {
  return StepUnit{.in_bytes = 0, .out_bytes = {4}};
}
void counting_apply(const StepRun& run, std::span<const std::byte> /*in*/, std::span<const std::span<std::byte>> out) {
  for (size_t i = 0; i < out[0].size() / 4; ++i) {
    const auto value = static_cast<float>(run.first_unit + i);
    std::memcpy(out[0].data() + i * 4, &value, 4);
  }
}

Manifest small_manifest(const Checkpoint& checkpoint, const std::string& tag) {
  Manifest m;
  m.tool.version = "0";
  m.source = {.container = "gguf", .files = {}, .header_xxh3 = checkpoint.header_xxh3};
  m.model = {.name = tag, .architecture = "llama", .configuration = {}};
  return m;
}

}  // namespace

void add_parameter(Module& module, Recipe recipe) {
  for (uint32_t o = 0; o < recipe.outputs.size(); ++o)
    module.parameters.push_back({.name = recipe.outputs[o].parameter,
                                 .type = recipe.outputs[o].type,
                                 .role = Role::kMatmul,
                                 .recipe = static_cast<uint32_t>(module.recipes.size()),
                                 .output = o});
  module.recipes.push_back(std::move(recipe));
}

SourceRange source_of(const Checkpoint& checkpoint, const std::string& tensor) {
  const TensorEntry& entry = *checkpoint.find(tensor);
  return {entry.name, entry.type, entry.file, entry.offset_bytes, entry.length_bytes};
}

Module decoded_module(const Checkpoint& checkpoint) {
  Module module;
  for (const TensorEntry& entry : checkpoint.tensors) {
    const Shape shape(entry.shape.begin(), entry.shape.end());
    add_parameter(module, {.sources = {source_of(checkpoint, entry.name)},
                           .steps = {StepKind::kDecode},
                           .outputs = {{entry.name, Type{DType::kF32, shape}}}});
  }
  return module;
}

std::string file_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot open " + path);
  std::stringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

std::vector<std::string> tree(const std::string& directory) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
    std::string name = std::filesystem::relative(entry.path().parent_path(), directory) / entry.path().filename();
    if (name.starts_with("./")) name.erase(0, 2);
    if (entry.is_symlink()) name += " -> " + std::filesystem::read_symlink(entry.path()).string();
    names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<Step> steps_with_tests_own() {
  std::vector<Step> steps(step_table().begin(), step_table().end());
  steps.push_back({.kind = kInt8Rows, .unit = int8_unit, .apply = int8_apply});
  steps.push_back({.kind = kCounting, .unit = counting_unit, .apply = counting_apply});
  return steps;
}

std::string Written::parameter(const std::string& name) const {
  for (const auto& output : plan.outputs)
    if (output.parameter == name) return bytes.substr(output.offset_bytes, output.length_bytes);
  throw std::out_of_range(name);
}

Result<Written> write_and_read(const Module& module, const std::vector<SourceFile>& files,
                               const ExecutorOptions& options) {
  const TempDir dir;
  const int descriptor = ::open(dir.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const auto write = [&]() -> Result<Written> {
    Written out{.bytes = {}, .plan = {}, .result = {}, .warnings = {}};
    HR_TRY(auto plans, plan_archives(module, {.metadata = {{"made_by", "a test"}}}));
    out.plan = std::move(plans.at(0));
    HR_TRY(OutputFile file, OutputFile::create(descriptor, dir.path(), ".headrace-tmp-x"));
    Warnings warnings;
    auto result = write_archive(out.plan, module, files, options, file, warnings);
    if (!result) return fail(std::move(result).error());
    out.result = *std::move(result);
    HR_TRY_STATUS(file.publish("x"));
    out.bytes = file_bytes(dir.path() + "/x");
    out.warnings = warnings.lines;
    return out;
  };
  auto written = write();
  ::close(descriptor);
  if (!written && !tree(dir.path()).empty()) throw std::logic_error("a failed archive was left behind");
  return written;
}

Status export_small(const std::string& directory, const Checkpoint& checkpoint, const std::string& tag,
                    const ExecutorOptions& options) {
  const Module module = decoded_module(checkpoint);
  HR_TRY(const auto plans, plan_archives(module, {}));
  const ArchivePlan& plan = plans.at(0);
  HR_TRY(ExportDirectory out, ExportDirectory::open(directory));
  Warnings warnings;
  Manifest manifest = small_manifest(checkpoint, tag);
  {
    HR_TRY(OutputFile file, out.new_archive());
    HR_TRY(const WrittenArchive written, write_archive(plan, module, checkpoint.files, options, file, warnings));
    HR_TRY(auto archive, out.add_archive(std::move(file), plan, written));
    manifest.parameters = manifest_parameters(module, std::vector{NamedArchive{plan, written, archive.file}});
    manifest.archives.push_back(std::move(archive));
  }
  for (const char* plain : {"module.hir", "iree/model.mlir", "xla/score.mlir"}) {
    HR_TRY(auto text, out.add_text(plain, std::string(plain) + " of " + tag + "\n"));
    manifest.texts.push_back(std::move(text));
  }
  manifest.module_file = manifest.texts[0].file;
  return out.commit(manifest, warnings);
}

Result<std::string> verified_tag(const std::string& directory) {
  HR_TRY(const LoadedExport loaded, load_export(directory));
  const std::string& tag = loaded.manifest.model.name;
  for (const ManifestText& text : loaded.manifest.texts) {
    HR_TRY(const std::string content, read_text(loaded, text));
    if (content != text.link + " of " + tag + "\n") return fail(ErrorCode::kManifest, "a mix: {} in {}", content, tag);
  }
  const std::string archive = file_bytes(loaded.path(loaded.manifest.archives.at(0).file));
  for (const ManifestParameter& p : loaded.manifest.parameters)
    if (hash_hex(std::string_view(archive).substr(*p.offset_bytes, *p.length_bytes)) != *p.xxh3)
      return fail(ErrorCode::kArchive, "'{}' is not what the manifest says", p.name);
  return tag;
}

}  // namespace headrace::testing
