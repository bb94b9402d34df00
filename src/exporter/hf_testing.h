// Test kit: Hugging Face directories made of a model of the zoo and a configuration.
#pragma once

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "base/testing.h"
#include "formats/gguf_testing.h"

namespace headrace::testing {

inline std::string zoo_directory(const std::string& model) {
  return fmt::format("{}/zoo/{}", HEADRACE_TESTDATA, model);
}

// One of the spellings of a model's configuration: "config", "config_v4", "config_min".
inline nlohmann::json zoo_config(const std::string& model, const std::string& spelling = "config") {
  std::ifstream file(fmt::format("{}/{}.json", zoo_directory(model), spelling));
  return nlohmann::json::parse(file);
}

// The model's weights with that config.json beside them.
class HfDirectory {
 public:
  HfDirectory(const std::string& model, const nlohmann::json& config) {
    for (const auto& entry : std::filesystem::directory_iterator(zoo_directory(model))) {
      const std::string name = entry.path().filename();
      if (name.find(".safetensors") != std::string::npos)
        std::filesystem::create_symlink(std::filesystem::absolute(entry.path()),
                                        std::filesystem::path(directory_.path()) / name);
    }
    std::ignore = directory_.write("config.json", config.dump());
  }
  [[nodiscard]] const std::string& path() const { return directory_.path(); }

 private:
  TempDir directory_;
};

}  // namespace headrace::testing
