// Decoding against copying, one core: G elements/s of every block type by scalar and by SIMD code, and of memcpy of as
// many bytes as the output has. Outputs are of 64 MiB (halves) and 128 MiB (f32), so that memory is part of it.
//
//   decode_bench [--rounds N] [--raw DIR] [--write] [TYPE...]
//
// What a table's column needs takes turns in each round, and time is the thread's own, because others use the machine
// too; the best of each counts.
// --raw reads DIR/<type>.raw instead of making up blocks; --write leaves the results in DIR as <type>.f32, .bf16 and
// .f16, for bench/decode_table.py, which compares them with gguf-py and adds its rate. Prints a line per type.
#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "quant/block_type.h"
#include "quant/decode.h"

namespace headrace {
namespace {

constexpr size_t kElements = size_t{1} << 25;

struct Options {
  int rounds = 5;
  std::string raw_dir;
  bool write = false;
  std::vector<std::string> types;
};

double thread_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// The least time of each job, in seconds.
std::vector<double> take_turns(int rounds, const std::vector<std::function<void()>>& jobs) {
  std::vector<double> best(jobs.size(), 1e9);
  for (int round = 0; round <= rounds; ++round) {
    for (size_t i = 0; i < jobs.size(); ++i) {
      const double begin = thread_seconds();
      jobs[i]();
      const double seconds = thread_seconds() - begin;
      if (round > 0) best[i] = std::min(best[i], seconds);  // the first one faults the pages in
    }
  }
  return best;
}

std::vector<std::byte> random_blocks(size_t bytes) {
  std::vector<std::byte> out(bytes);
  std::mt19937_64 random(7);
  // No byte has the upper bit of an f16's exponent, so that no scale is infinite or NaN, wherever the format keeps it.
  constexpr uint64_t kNoSpecials = 0xBFBFBFBFBFBFBFBFU;
  for (size_t i = 0; i + 8 <= bytes; i += 8) {
    const uint64_t eight = random() & kNoSpecials;
    std::memcpy(out.data() + i, &eight, sizeof(eight));
  }
  return out;
}

std::vector<std::byte> read_file(const std::string& path, size_t bytes) {
  std::ifstream file(path, std::ios::binary);
  std::vector<std::byte> out(bytes);
  if (!file.read(reinterpret_cast<char*>(out.data()), static_cast<std::streamsize>(bytes)))
    throw std::runtime_error(fmt::format("{}: cannot read {} bytes", path, bytes));
  return out;
}

template <class T>
void write_file(const std::string& path, const std::vector<T>& values) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(values.size() * sizeof(T)));
  if (!file.flush()) throw std::runtime_error(fmt::format("{}: cannot write", path));
}

void measure(BlockType type, const Options& options) {
  const BlockTypeInfo& row = info(type);
  const size_t in_bytes = kElements / static_cast<size_t>(row.block_elements) * static_cast<size_t>(row.block_bytes);
  const std::string stem = options.raw_dir + "/" + std::string(row.name);
  const auto in = options.raw_dir.empty() ? random_blocks(in_bytes) : read_file(stem + ".raw", in_bytes);
  const std::vector<float> floats_in(kElements, 1.F);
  std::vector<float> floats(kElements);
  std::vector<uint16_t> halves(kElements);
  const auto write = [&](const std::string& suffix, const auto& values) {
    if (options.write) write_file(stem + suffix, values);
  };
  const auto f32 = take_turns(options.rounds, {
                                                  [&] { std::memcpy(floats.data(), floats_in.data(), kElements * 4); },
                                                  [&] { row.scalar(in, floats); },
                                                  [&] { decode_f32(type, in, floats); },
                                              });
  write(".f32", floats);
  const auto bf16 = take_turns(options.rounds, {
                                                   [&] { std::memcpy(halves.data(), floats_in.data(), kElements * 2); },
                                                   [&] { decode_bf16(type, in, halves); },
                                               });
  write(".bf16", halves);
  const auto f16 = take_turns(options.rounds, {
                                                  [&] { std::memcpy(halves.data(), floats_in.data(), kElements * 2); },
                                                  [&] { decode_f16(type, in, halves); },
                                              });
  write(".f16", halves);
  const auto rate = [](double seconds) { return static_cast<double>(kElements) / seconds / 1e9; };
  fmt::print("{:8} {:7.3f} {:7.3f} {:8.3f} {:7.3f} {:10.3f} {:10.3f} {:7.0f}% {:7.0f}% {:7.0f}%\n", row.name,
             rate(f32[1]), rate(f32[2]), rate(bf16[1]), rate(f16[1]), rate(f32[0]), rate(bf16[0]),
             100 * f32[0] / f32[2], 100 * bf16[0] / bf16[1], 100 * f16[0] / f16[1]);
  std::fflush(stdout);
}

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string arg = argv[i];
    if (arg == "--write") {
      options.write = true;
    } else if (arg == "--raw" && i + 1 < argc) {
      options.raw_dir = argv[++i];
    } else if (arg == "--rounds" && i + 1 < argc) {
      options.rounds = std::stoi(argv[++i]);
    } else {
      options.types.push_back(arg);
    }
  }
  if (options.write && options.raw_dir.empty()) throw std::runtime_error("--write needs --raw");
  return options;
}

void run(const Options& options) {
  fmt::print("{:8} {:>7} {:>7} {:>8} {:>7} {:>10} {:>10} {:>8} {:>8} {:>8}\n", "G el/s", "scalar", "f32", "bf16", "f16",
             "copy f32", "copy half", "f32/copy", "bf16", "f16");
  for (size_t i = 0; i < block_type_table().size(); ++i) {
    const std::string name(block_type_table()[i].name);
    const auto& types = options.types;
    if (!types.empty() && std::find(types.begin(), types.end(), name) == types.end()) continue;
    if (can_decode(static_cast<BlockType>(i))) measure(static_cast<BlockType>(i), options);
  }
}

}  // namespace
}  // namespace headrace

int main(int argc, char** argv) {
  try {
    headrace::run(headrace::parse(argc, argv));
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "error: {}\n", error.what());
    return 1;
  }
}
