#include "weights/names.h"

#include <gtest/gtest.h>

namespace headrace {
namespace {

TEST(Names, Classify) {
  struct Case {
    const char* path;
    NameKind kind;
    const char* link = "";
  };
  for (const Case& c :
       {Case{"manifest.json", NameKind::kManifest},
        Case{".headrace-lock", NameKind::kLock},
        Case{".headrace-tmp-weights", NameKind::kTemporary},
        Case{"iree", NameKind::kDirectory},
        Case{"xla", NameKind::kDirectory},
        Case{"module.hir", NameKind::kLink},
        Case{"module-0123456789abcdef.hir", NameKind::kData, "module.hir"},
        Case{"vocabulary-0123456789abcdef.json", NameKind::kData, "vocabulary.json"},
        Case{"weights-0123456789abcdef.safetensors", NameKind::kData},
        Case{"weights-0123456789abcdef.irpa", NameKind::kData},
        Case{"weights.safetensors", NameKind::kForeign},
        Case{"iree/model.mlir", NameKind::kLink},
        Case{"iree/model-0123456789abcdef.mlir", NameKind::kData, "iree/model.mlir"},
        Case{"iree/model-0123456789abcdef.vmfb", NameKind::kCompiled, "iree/model-0123456789abcdef.mlir"},
        Case{"iree/model.vmfb", NameKind::kCompiled, "iree/model.mlir"},
        Case{"iree/other.vmfb", NameKind::kForeign},
        Case{"iree/score.mlir", NameKind::kForeign},
        Case{"xla/score.mlir", NameKind::kLink},
        Case{"xla/score.seq_8-0123456789abcdef.mlir", NameKind::kData, "xla/score.seq_8.mlir"},
        Case{"xla/score-0123456789ABCDEF.mlir", NameKind::kLink},
        Case{"xla/.mlir", NameKind::kForeign},
        Case{"xla/.x.mlir", NameKind::kForeign},
        Case{"xla/a/b.mlir", NameKind::kForeign},
        Case{"model.mlir", NameKind::kForeign},
        Case{"module-0123456789abcde.hir", NameKind::kForeign},
        Case{"xla/module.hir", NameKind::kForeign},
        Case{"", NameKind::kForeign},
        Case{"/", NameKind::kForeign},
        Case{"README.md", NameKind::kForeign}}) {
    const NameInfo info = classify(c.path);
    EXPECT_EQ(static_cast<int>(info.kind), static_cast<int>(c.kind)) << c.path;
    EXPECT_EQ(info.link, c.link) << c.path;
  }
}

TEST(Names, ContentName) {
  const std::string hash = "0123456789abcdef0123456789abcdef";
  EXPECT_EQ(content_name("iree/model.mlir", hash), "iree/model-0123456789abcdef.mlir");
  EXPECT_EQ(content_name("xla/score.seq_8.mlir", hash), "xla/score.seq_8-0123456789abcdef.mlir");
  EXPECT_EQ(content_name("a.b/c", hash), "a.b/c-0123456789abcdef");
}

}  // namespace
}  // namespace headrace
