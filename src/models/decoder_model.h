// What every decoder answers from its shape and from what it was made of.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "models/decoder_config.h"

namespace headrace {

class DecoderModel : public Model {
 public:
  [[nodiscard]] std::string_view architecture() const final { return architecture_; }
  [[nodiscard]] const std::vector<ConfigEntry>& config() const final { return entries_; }
  [[nodiscard]] const TensorNames& names() const final { return names_; }
  [[nodiscard]] int64_t vocabulary() const final { return shape().vocabulary; }
  [[nodiscard]] int64_t context_length() const final { return shape().context; }
  [[nodiscard]] bool tied_head() const final { return shape().tied; }

 protected:
  // `architecture` is a literal: the model keeps it.
  DecoderModel(std::string_view architecture, std::vector<ConfigEntry> entries, TensorNames names)
      : architecture_(architecture), entries_(std::move(entries)), names_(std::move(names)) {}
  [[nodiscard]] virtual const DecoderShape& shape() const = 0;

 private:
  std::string_view architecture_;
  std::vector<ConfigEntry> entries_;
  TensorNames names_;
};

}  // namespace headrace
