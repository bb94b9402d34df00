#include "exporter/inspect_tensor.h"

#include <filesystem>

#include "base/testing.h"
#include "formats/gguf_testing.h"
#include "formats/safetensors_testing.h"

namespace headrace {
namespace {

using ::testing::HasSubstr;
using testing::IsError;

TEST(TensorStatistics, NamesWhatIsNotThereOrCannotBeDecoded) {
  ASSERT_OK_AND_ASSIGN(Checkpoint checkpoint, testing::open_spec(testing::tiny()));
  EXPECT_THAT(tensor_statistics(checkpoint, "nonesuch"), IsError(ErrorCode::kInput, HasSubstr("'nonesuch' among the")));
  for (const BlockTypeInfo& row : block_type_table()) {
    if (row.scalar != nullptr) continue;
    checkpoint.tensors[0].type = static_cast<BlockType>(&row - block_type_table().data());
    EXPECT_THAT(tensor_statistics(checkpoint, checkpoint.tensors[0].name),
                IsError(ErrorCode::kBlockType, HasSubstr("cannot be decoded")));
  }
}

TEST(TensorStatistics, AFileThatIsGoneIsAnError) {
  ASSERT_OK_AND_ASSIGN(const Checkpoint checkpoint, testing::open_spec(testing::tiny()));  // and removed again
  EXPECT_THAT(tensor_statistics(checkpoint, checkpoint.tensors[0].name),
              IsError(ErrorCode::kFileOpen, HasSubstr(checkpoint.files[0].path)));
}

TEST(TensorStatistics, AShardThatWasCutOrReplacedIsAnError) {
  const testing::ShardedDir dir;
  Warnings warnings;
  ASSERT_OK_AND_ASSIGN(const Checkpoint checkpoint, open_checkpoint(dir.path(), warnings));
  EXPECT_OK(tensor_statistics(checkpoint, "c"));
  std::filesystem::resize_file(dir.file(testing::ShardedDir::kSecond), 100);
  EXPECT_THAT(tensor_statistics(checkpoint, "c"),
              IsError(ErrorCode::kFileRead, HasSubstr("changed since its header was read")));
  const auto same = testing::build_safetensors({{.name = "c", .shape = {2, 1}, .bytes = "ccccCCCC"}});
  dir.remove(testing::ShardedDir::kSecond);
  dir.write(testing::ShardedDir::kSecond, same);
  EXPECT_THAT(tensor_statistics(checkpoint, "c"), IsError(ErrorCode::kFileRead, HasSubstr("replaced or modified")));
  EXPECT_OK(tensor_statistics(checkpoint, "a")) << "the other shard is as it was";
}

}  // namespace
}  // namespace headrace
