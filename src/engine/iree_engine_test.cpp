// What the engine asks of its worker, with a script as worker that writes down the requests. The real one is tested in
// tests/engines.
#include <filesystem>
#include <fstream>

#include "base/testing.h"
#include "engine/engine.h"
#include "exporter/export.h"
#include "formats/gguf_testing.h"

namespace headrace {
namespace {

using ::testing::IsEmpty;
using Json = nlohmann::json;

// Answers every request as the real one does, without computing anything; a line of JSON for each run goes to runs.
constexpr std::string_view kScript = R"(#!/usr/bin/env python3
import json, os, socket, struct, sys
link = socket.socket(fileno=int(sys.argv[-1]))
folder = os.path.dirname(sys.argv[0])

def receive(count):
    data = b""
    while len(data) < count:
        got = link.recv(count - len(data))
        if not got:
            sys.exit()
        data += got
    return data

def send(reply):
    text = json.dumps(reply).encode()
    link.sendall(struct.pack("<IQ", len(text), 0) + text)

send({"protocol": 2})
while True:
    header, payload = struct.unpack("<IQ", receive(12))
    request = json.loads(receive(header))
    receive(payload)
    if request["op"] == "open":
        functions = json.load(open(request["directory"] + "/manifest.json"))["functions"]
    reply = {}
    if request["op"] == "run":
        with open(folder + "/runs", "a") as runs:
            print(json.dumps(request), file=runs)
        function = next(f for f in functions if request["entry"].endswith("." + f["name"]))
        reply = {"values": [{"dtype": r["dtype"], "sizes": r["shape"]} for r in function["results"]]}
    if request["op"] != "upload":
        send(reply)
)";

class IreeEngineTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ExportOptions options;
    options.model_path = std::string(HEADRACE_TESTDATA) + "/zoo/llama/llama.f32.gguf";
    options.directory = dir_.path() + "/export";
    options.targets = {Target::kIree};
    options.functions = {"prefill", "decode"};
    options.kv = {.extent = KvExtent::kStatic, .capacity = 16};
    options.seq = {8};
    options.weights = "safetensors";
    options.max_memory_bytes = uint64_t{8} << 30;  // sanitizers take much of it
    Warnings warnings;
    ASSERT_OK(export_model(options, {}, warnings));
    const std::string script = dir_.write("python", kScript);
    std::filesystem::permissions(script, std::filesystem::perms::owner_all);
    ASSERT_OK_AND_ASSIGN(engine_, open_engine(EngineKind::kIree, options.directory, {.python = script}));
  }

  // The arguments of decode: zeros, caches donated or not.
  [[nodiscard]] std::vector<EngineArgument> arguments(bool donate) const {
    std::vector<EngineArgument> out;
    for (const ManifestArgument& a : engine_->manifest().find("decode")->arguments) {
      auto buffer = engine_->upload(HostTensor<float>(a.dtype, static_sizes(a.shape)));
      HR_CHECK(buffer);
      out.push_back({*buffer, donate && a.kind == ValueKind::kCache});
    }
    return out;
  }

  [[nodiscard]] Json last_run() const {
    std::ifstream in(dir_.path() + "/runs");
    std::string line;
    std::string last;
    while (std::getline(in, line)) last = line;
    return Json::parse(last);
  }

  testing::TempDir dir_;
  std::unique_ptr<Engine<float>> engine_;
};

// The program writes new caches into the memory of the old ones.
TEST_F(IreeEngineTest, CachesThatAreNotDonatedAreKept) {
  ASSERT_OK(engine_->run("decode", {}, arguments(true)));
  EXPECT_THAT(last_run()["keep"], IsEmpty());
  ASSERT_OK(engine_->run("decode", {}, arguments(false)));
  const Json request = last_run();
  const auto& ids = request["arguments"];
  ASSERT_GT(ids.size(), 4U);
  EXPECT_EQ(request["keep"], Json(std::vector<Json>(ids.begin() + 2, ids.end())));  // all but token and position
}

}  // namespace
}  // namespace headrace
