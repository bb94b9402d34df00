// From HIR text to the text of both targets, for every op and for control flow.
//
// With HEADRACE_DUMP_DIR set, every *.hir of that directory is lowered and written beside it: <name>.iree.mlir, and for
// each public function <name>.<function>.xla.mlir. tests/engines runs those on the engines.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/testing.h"
#include "ir/parse.h"
#include "ir/verify.h"
#include "ops/ops.h"
#include "passes/pipeline.h"
#include "stablehlo/emitter.h"

namespace headrace {
namespace {

namespace fs = std::filesystem;

std::string read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<fs::path> modules_in(const fs::path& directory) {
  std::vector<fs::path> out;
  for (const auto& entry : fs::directory_iterator(directory))
    if (entry.path().extension() == ".hir") out.push_back(entry.path());
  std::sort(out.begin(), out.end());
  return out;
}

struct Lowered {
  std::string iree;
  std::vector<std::pair<std::string, std::string>> xla;  // function and text
};

Result<Lowered> lower(const fs::path& path) {
  HR_TRY(const Module module, parse_module(read(path), ops::lookup));
  HR_TRY_STATUS(verify(module));
  Lowered out;
  HR_TRY(const Module for_iree, run_pipeline(module, {.engine = Engine::kIree}));
  HR_TRY(out.iree, emit_iree(for_iree));
  HR_TRY(const Module for_xla, run_pipeline(module, {.engine = Engine::kXla}));
  for (const Function& f : for_xla.functions) {
    if (f.visibility != Visibility::kPublic) continue;
    HR_TRY(auto program, emit_xla(for_xla, f));
    out.xla.emplace_back(f.name, std::move(program.text));
  }
  return out;
}

TEST(LowerText, ControlFlowModules) {
  const auto paths = modules_in(HEADRACE_TESTDATA "/stablehlo");
  EXPECT_FALSE(paths.empty());
  for (const fs::path& path : paths) {
    SCOPED_TRACE(path);
    ASSERT_OK_AND_ASSIGN(const Lowered first, lower(path));
    ASSERT_OK_AND_ASSIGN(const Lowered second, lower(path));
    EXPECT_EQ(first.iree, second.iree);
    EXPECT_EQ(first.xla, second.xla);
    EXPECT_FALSE(first.xla.empty());
  }
}

TEST(LowerText, Dump) {
  const char* directory = std::getenv("HEADRACE_DUMP_DIR");
  if (directory == nullptr) GTEST_SKIP() << "HEADRACE_DUMP_DIR is not set";
  for (const fs::path& path : modules_in(directory)) {
    SCOPED_TRACE(path);
    const auto lowered = lower(path);
    EXPECT_OK(lowered);
    if (!lowered) continue;
    const fs::path stem = path.parent_path() / path.stem();
    std::ofstream(stem.string() + ".iree.mlir") << lowered->iree;
    for (const auto& [function, text] : lowered->xla)
      std::ofstream(stem.string() + "." + function + ".xla.mlir") << text;
  }
}

}  // namespace
}  // namespace headrace
