// Walking N tensors over one index space with strides: what broadcast, transpose, slices, gather, reduce and
// contractions share. Adjacent dims that are contiguous in all N are merged, so the inner run is as long as can be.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "ops/eval.h"

namespace headrace::ops {

// Row-major element strides; of a tensor without elements, whose other sizes may be anything, zeros.
[[nodiscard]] inline std::vector<int64_t> strides_of(std::span<const int64_t> sizes) {
  std::vector<int64_t> strides(sizes.size());
  if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end()) return strides;
  int64_t stride = 1;
  for (size_t d = sizes.size(); d-- > 0; stride *= sizes[d]) strides[d] = stride;
  return strides;
}

template <size_t N>
class Strided {
 public:
  using Offsets = std::array<int64_t, N>;

  Strided(std::span<const int64_t> sizes, const std::array<std::vector<int64_t>, N>& strides) {
    for (size_t d = 0; d < sizes.size(); ++d) {
      if (sizes[d] == 0) empty_ = true;
      if (sizes[d] == 1) continue;
      Offsets steps{};
      for (size_t j = 0; j < N; ++j) steps[j] = strides[j][d];
      add(sizes[d], steps);
    }
    if (sizes_.empty()) add(1, {});
    index_.resize(sizes_.size());
  }

  // Calls row(offsets, count, steps) for every run along the innermost dim, in row-major order: element e of tensor j
  // is at offsets[j] + e * steps[j].
  template <class Row>
  void rows(Row&& row) {
    if (empty_) return;
    std::fill(index_.begin(), index_.end(), 0);
    Offsets offsets{};
    do row(offsets, sizes_.back(), steps_.back());
    while (advance(offsets));
  }

 private:
  void add(int64_t size, const Offsets& steps) {
    if (!sizes_.empty()) {
      bool joins = true;
      for (size_t j = 0; j < N; ++j) joins = joins && steps_.back()[j] == steps[j] * size;
      if (joins) {
        sizes_.back() *= size;
        steps_.back() = steps;
        return;
      }
    }
    sizes_.push_back(size);
    steps_.push_back(steps);
  }

  bool advance(Offsets& offsets) {
    for (size_t d = sizes_.size() - 1; d-- > 0;) {
      for (size_t j = 0; j < N; ++j) offsets[j] += steps_[d][j];
      if (++index_[d] < sizes_[d]) return true;
      for (size_t j = 0; j < N; ++j) offsets[j] -= steps_[d][j] * sizes_[d];
      index_[d] = 0;
    }
    return false;
  }

  bool empty_ = false;
  std::vector<int64_t> sizes_;
  std::vector<Offsets> steps_;
  std::vector<int64_t> index_;
};

// Copies src to dst; tensor 0 of the plan is dst, tensor 1 is src.
template <class T>
void copy(Strided<2>& plan, T* dst, const T* src) {
  plan.rows([&](const auto& offsets, int64_t count, const auto& steps) {
    T* to = dst + offsets[0];
    const T* from = src + offsets[1];
    if (steps[0] == 1 && steps[1] == 1) {
      std::copy_n(from, count, to);
    } else if (steps[0] == 1 && steps[1] == 0) {
      std::fill_n(to, count, *from);
    } else {
      for (int64_t e = 0; e < count; ++e) to[e * steps[0]] = from[e * steps[1]];
    }
  });
}

// The same on tensors of one dtype, from element `src_base` of src to element `dst_base` of dst.
template <class F>
void copy(Strided<2>& plan, HostTensor<F>& dst, int64_t dst_base, const HostTensor<F>& src, int64_t src_base) {
  if (is_float(dst.dtype())) {
    copy(plan, dst.mutable_floats().data() + dst_base, src.floats().data() + src_base);
  } else {
    copy(plan, dst.mutable_ints().data() + dst_base, src.ints().data() + src_base);
  }
}

}  // namespace headrace::ops
