// What every engine refuses before it runs.
#include "engine/engine.h"

#include "engine/toy_engine_testing.h"

namespace headrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::IsError;
using testing::kCapacity;
using testing::ToyExport;

TEST(EngineTest, ChecksArgumentsBeforeTheEngineSeesThem) {
  const auto engine = ToyExport{}.make();
  const auto upload = [&](DType dtype, std::vector<int64_t> sizes) {
    return EngineArgument{*engine->upload(HostTensor<float>(dtype, std::move(sizes)))};
  };
  const auto run_prefill = [&](const std::vector<EngineArgument>& arguments, const SymbolValues& symbols) {
    return engine->run("prefill", symbols, arguments);
  };
  const EngineArgument tokens = upload(DType::kI32, {1, 4});
  const EngineArgument length = upload(DType::kI32, {1});
  length.buffer->spend();
  EXPECT_THAT(run_prefill({tokens}, {{"seq", 4}}), IsError(ErrorCode::kInput, "prefill: 1 arguments, expected 2"));
  EXPECT_THAT(run_prefill({tokens, tokens}, {{"seq", 4}}),
              IsError(ErrorCode::kInput, "prefill: argument 'length' is i32[1, 4], expected i32[1]"));
  EXPECT_THAT(run_prefill({upload(DType::kF32, {1, 4}), length}, {{"seq", 4}}),
              IsError(ErrorCode::kInput, "prefill: argument 'tokens' is f32[1, 4], expected i32[1, 4]"));
  EXPECT_THAT(run_prefill({tokens, length}, {{"seq", 4}}),
              IsError(ErrorCode::kInput, "prefill: argument 'length' was donated to an earlier run"));
  EXPECT_THAT(run_prefill({tokens, length}, {{"seq", 5}}),
              IsError(ErrorCode::kInput, "prefill: no program for seq = 5, there are: seq = 4; seq = 8"));
  EXPECT_THAT(run_prefill({tokens, length}, {{"seq", 65}}),
              IsError(ErrorCode::kInput, "prefill: seq is 65, expected 1 to 64"));
  EXPECT_THAT(run_prefill({tokens, length}, {}), IsError(ErrorCode::kInput, "prefill: symbol 'seq' has no value"));
  EXPECT_THAT(run_prefill({tokens, length}, {{"seq", 4}, {"n", 1}}),
              IsError(ErrorCode::kInput, "prefill: no symbol 'n'"));
  EXPECT_THAT(engine->run("score", {}, {}),
              IsError(ErrorCode::kInput, "no function 'score' (functions: prefill, chunk, decode)"));
  EXPECT_THAT(engine->calls, ElementsAre());
}

TEST(EngineTest, DonatedBuffersAreSpent) {
  const auto engine = ToyExport{}.make();
  const auto upload = [&](DType dtype, std::vector<int64_t> sizes) {
    return *engine->upload(HostTensor<float>(dtype, std::move(sizes)));
  };
  const BufferPtr cache = upload(DType::kF32, {1, 1, kCapacity, 1});
  const std::vector<EngineArgument> arguments{{upload(DType::kI32, {1, 1})}, {upload(DType::kI32, {1})}, {cache, true}};
  ASSERT_OK_AND_ASSIGN(const auto results, engine->run("decode", {}, arguments));
  EXPECT_TRUE(cache->spent());
  EXPECT_FALSE(arguments[0].buffer->spent() || results[1]->spent());
  EXPECT_THAT(engine->run("decode", {}, arguments), IsError(ErrorCode::kInput, HasSubstr("donated to an earlier run")));
}

TEST(EngineTest, TheTable) {
  for (size_t i = 0; i < std::size(kEngineTable); ++i) {
    EXPECT_EQ(parse_engine(kEngineTable[i].name), static_cast<EngineKind>(i));
    EXPECT_NE(kEngineTable[i].open, nullptr);
    EXPECT_FALSE(kEngineTable[i].help.empty());
  }
  EXPECT_EQ(parse_engine("cuda"), std::nullopt);
}

}  // namespace
}  // namespace headrace
