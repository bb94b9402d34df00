#include "exporter/inspect_tensor.h"

#include "base/testing.h"
#include "formats/gguf_testing.h"

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

}  // namespace
}  // namespace headrace
