// Opens a file that is no checkpoint and checks that the installed library says so.
#include <cstdio>
#include <string>

#include "base/version.h"
#include "formats/checkpoint.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: consumer FILE\n", stderr);
    return 2;
  }
  headrace::Warnings warnings;
  const auto checkpoint = headrace::open_checkpoint(argv[1], warnings);
  if (checkpoint.has_value()) {
    std::fputs("a file that is no checkpoint was opened\n", stderr);
    return 1;
  }
  const headrace::Error& error = checkpoint.error();
  std::printf("headrace %s: %s: %s\n", std::string(headrace::kVersion).c_str(),
              std::string(headrace::slug(error.code)).c_str(), error.text().c_str());
  return error.code == headrace::ErrorCode::kNotACheckpoint ? 0 : 1;
}
