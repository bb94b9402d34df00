// Plugins that are none, and the options of a compilation. Programs on a real plugin: tests/engines.
#include "engine/pjrt.h"

#include <fstream>

#include "base/testing.h"
#include "engine/one_line.h"

namespace headrace::pjrt {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::IsError;

TEST(PjrtTest, VersionsAndSizes) {
  PJRT_Api api{};
  api.struct_size = PJRT_Api_STRUCT_SIZE;
  api.pjrt_api_version.major_version = PJRT_API_MAJOR;
  api.pjrt_api_version.minor_version = PJRT_API_MINOR;
  EXPECT_OK(check_api(api));
  api.pjrt_api_version.minor_version = 2000;  // newer ones only add
  EXPECT_OK(check_api(api));
  api.pjrt_api_version.minor_version = kOldestMinor - 1;
  EXPECT_THAT(check_api(api), IsError(ErrorCode::kEngineMissing, "PJRT API 0.69, expected 0.70 or newer"));
  api.pjrt_api_version = {.struct_size = 0, .extension_start = nullptr, .major_version = 1, .minor_version = 90};
  EXPECT_THAT(check_api(api), IsError(ErrorCode::kEngineMissing, "PJRT API 1.90, expected 0.70 or newer"));
  api.pjrt_api_version.major_version = 0;
  api.struct_size = PJRT_STRUCT_SIZE(PJRT_Api, PJRT_Buffer_Delete);
  EXPECT_THAT(check_api(api), IsError(ErrorCode::kEngineMissing, HasSubstr("a table of")));
}

TEST(PjrtTest, FilesThatAreNoPlugins) {
  EXPECT_THAT(
      Client::open("/nonexistent/plugin.so"),
      IsError(ErrorCode::kEngineMissing, AllOf(HasSubstr("/nonexistent/plugin.so"), HasSubstr("No such file"))));
  const std::string text = ::testing::TempDir() + "headrace_plugin.so";
  std::ofstream(text) << "no library";
  EXPECT_THAT(Client::open(text), IsError(ErrorCode::kEngineMissing, HasSubstr(text)));
  // A library, but no plugin. A name without a directory is a file here, not one of the system's libraries.
  EXPECT_THAT(Client::open("libm.so.6"), IsError(ErrorCode::kEngineMissing, HasSubstr("No such file")));
}

TEST(PjrtTest, CompileOptions) {
  // One replica and one partition, as OpenXLA's own client writes them.
  EXPECT_EQ(compile_options({}), std::string("\x1a\x04\x20\x01\x28\x01"));
  const std::string value(200, 'v');
  const std::string options = compile_options({{"opt", value}});
  // Field 7 of 215 bytes: key "opt", and a message of 203 bytes with the string of 200.
  EXPECT_EQ(options.substr(6), std::string("\x3a\xd3\x01\x0a\x03opt\x12\xcb\x01\x0a\xc8\x01") + value);
}

TEST(OneLineTest, FirstLineOfWhatOthersSay) {
  EXPECT_EQ(one_line(""), "");
  EXPECT_EQ(one_line("\n \n  one\ttwo \nthree"), "one two");
  EXPECT_EQ(one_line(std::string(1000, 'x')).size(), 400);
  EXPECT_EQ(one_line("a\x1b[31mb"), "a [31mb");
}

}  // namespace
}  // namespace headrace::pjrt
