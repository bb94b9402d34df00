#include "weights/plan.h"

#include "base/testing.h"
#include "weights/archive_format.h"
#include "weights/weights_testing.h"

namespace headrace {
namespace {

using ::testing::HasSubstr;
using testing::IsError;

// Parameters of so many f32 each, made from nothing.
Module module_of(const std::vector<int64_t>& elements) {
  Module module;
  for (size_t i = 0; i < elements.size(); ++i)
    testing::add_parameter(
        module,
        {.sources = {},
         .steps = {testing::kCounting},
         .outputs = {{.parameter = fmt::format("p{}", i), .type = {.dtype = DType::kF32, .shape = {elements[i]}}}}});
  return module;
}

std::vector<std::vector<std::string>> names(const std::vector<ArchivePlan>& plans) {
  std::vector<std::vector<std::string>> out;
  for (const ArchivePlan& plan : plans) {
    auto& row = out.emplace_back();
    for (const PlannedOutput& p : plan.outputs) row.push_back(p.parameter);
  }
  return out;
}

using Names = std::vector<std::vector<std::string>>;

TEST(PlanArchives, FillsEachArchiveUpToTheBound) {
  const Module module = module_of({10, 10, 30, 5, 5, 5});
  for (const ArchiveFormat& format : archive_formats()) {
    const auto planned = [&](uint64_t bound) {
      return plan_archives(module, {.format = std::string(format.name), .max_shard_bytes = bound});
    };
    ASSERT_OK_AND_ASSIGN(const auto one, planned(0));
    EXPECT_EQ(names(one), (Names{{"p0", "p1", "p2", "p3", "p4", "p5"}}));
    ASSERT_OK_AND_ASSIGN(const auto exact, planned(80));
    EXPECT_EQ(names(exact), (Names{{"p0", "p1"}, {"p2"}, {"p3", "p4", "p5"}}));  // 80, 120 alone, 60
    ASSERT_OK_AND_ASSIGN(const auto tiny, planned(1));
    EXPECT_EQ(tiny.size(), 6U);
    for (const auto& plans : {one, exact, tiny})
      for (const ArchivePlan& plan : plans) EXPECT_EQ(plan.format, format.name);
  }
}

TEST(PlanArchives, WithoutParametersThereIsOneEmptyArchive) {
  ASSERT_OK_AND_ASSIGN(const auto plans, plan_archives(Module{}, {}));
  ASSERT_EQ(plans.size(), 1U);
  EXPECT_TRUE(plans[0].outputs.empty());
}

TEST(PlanArchives, AnUnknownFormatIsRefused) {
  EXPECT_THAT(plan_archives(module_of({1}), {.format = "zip"}),
              IsError(ErrorCode::kOptions, HasSubstr("no archive format 'zip'")));
}

}  // namespace
}  // namespace headrace
