#include "tools/stop_text.h"

#include <algorithm>
#include <utility>

namespace headrace::tools {
namespace {

// Bytes at the end of `text` that begin `stop`, the most of them.
size_t begun(std::string_view text, std::string_view stop) {
  for (size_t size = std::min(text.size(), stop.size() - 1); size > 0; --size)
    if (stop.starts_with(text.substr(text.size() - size))) return size;
  return 0;
}

}  // namespace

std::string StopText::push(std::string_view part) {
  if (stopped_) return {};
  held_ += part;
  size_t end = std::string::npos;
  size_t keep = 0;
  for (const std::string& stop : stops_) {
    end = std::min(end, held_.find(stop));
    keep = std::max(keep, begun(held_, stop));
  }
  // A longer stop string may have begun before the one that is complete.
  stopped_ = end != std::string::npos && end <= held_.size() - keep;
  const size_t shown = stopped_ ? end : held_.size() - keep;
  std::string out = held_.substr(0, shown);
  held_ = stopped_ ? std::string() : held_.substr(shown);
  return out;
}

std::string StopText::finish() {
  std::string out = std::exchange(held_, {});
  for (const std::string& stop : stops_)
    if (const size_t at = out.find(stop); at != std::string::npos) {
      out.resize(at);
      stopped_ = true;
    }
  return out;
}

}  // namespace headrace::tools
