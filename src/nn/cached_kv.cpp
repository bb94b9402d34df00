#include "nn/cached_kv.h"

#include <algorithm>

namespace headrace {

namespace {

Tensor integer(Tracer& t, int64_t value) { return t.scalar(DType::kI32, static_cast<double>(value)); }

}  // namespace

CachedKv::CachedKv(const KvLayout& layout, CacheCall call)
    : layout_(layout), call_(std::move(call)), kept_(layout.layers.size()) {}

std::vector<Tensor> CachedKv::results() {
  Tracer& t = call_.positions.tracer();
  std::vector<Tensor> out;
  if (layout_.any_grows()) {
    const Tensor fresh = call_positions();
    out.push_back(is_prefill() ? fresh : concatenate({call_.caches[0], fresh}, 1));
  }
  for (size_t i = 0; i < kept_.size(); ++i) {
    if (!kept_[i]) t.refuse(fmt::format("layer {} has a cache and does not attend", layout_.layers[i].layer));
    out.push_back(kept_[i]->k);
    out.push_back(kept_[i]->v);
  }
  return out;
}

KvCache::Keys CachedKv::store(int64_t layer, const Tensor& k, const Tensor& v, const Tensor&, const AttendOptions&) {
  const auto at = std::ranges::find(layout_.layers, layer, &CacheLayer::layer);
  if (at == layout_.layers.end()) k.tracer().refuse(fmt::format("layer {} has no cache", layer));
  const auto i = static_cast<size_t>(at - layout_.layers.begin());
  const Kept fresh{.k = convert(k, layout_.policy.dtype), .v = convert(v, layout_.policy.dtype)};
  Keys keys = layout_.grows(*at) ? grow(i, fresh) : fill(i, fresh);
  keys.k = convert(keys.k, k.dtype());
  keys.v = convert(keys.v, v.dtype());
  return keys;
}

CachedKv::Kept CachedKv::old(size_t layer) const {
  const size_t first = (layout_.any_grows() ? 1 : 0) + 2 * layer;
  return {.k = call_.caches[first], .v = call_.caches[first + 1]};
}

// Positions of this call's tokens, -1 for padding.
Tensor CachedKv::call_positions() const {
  if (!call_.length) return call_.positions;
  Tracer& t = call_.positions.tracer();
  const Tensor offsets = iota(t, DType::kI32, call_.positions.shape(), 1);
  return select(compare(offsets, "LT", column(*call_.length)), call_.positions, integer(t, -1));
}

KvCache::Keys CachedKv::grow(size_t layer, const Kept& fresh) {
  if (is_prefill()) {
    kept_[layer] = fresh;
    return {.k = fresh.k, .v = fresh.v, .positions = call_.positions};
  }
  const Kept before = old(layer);
  kept_[layer] = Kept{.k = concatenate({before.k, fresh.k}, 2), .v = concatenate({before.v, fresh.v}, 2)};
  return {.k = kept_[layer]->k, .v = kept_[layer]->v, .positions = concatenate({call_.caches[0], call_positions()}, 1)};
}

// The last position of each row after the call [B].
Tensor CachedKv::last() const {
  if (is_decode()) return *call_.past;
  const Tensor end = is_prefill() ? *call_.length : *call_.past + *call_.length;
  return end - 1;
}

// [B, slots]: the position that each slot holds when the last one written is `last`; negative: none yet.
Tensor CachedKv::held(const Tensor& last, int64_t slots) const {
  Tracer& t = last.tracer();
  const Tensor slot = iota(t, DType::kI32, {layout_.batch, slots}, 1);
  const Tensor newest = column(last);
  return newest - remainder(newest - slot + static_cast<double>(slots), integer(t, slots));
}

Tensor CachedKv::slot_positions(const CacheLayer& layer, const Tensor& last) const {
  const int64_t slots = layout_.slots(layer);
  // Without reuse slot p holds position p, or one that no query sees yet.
  return layout_.wraps(layer) ? held(last, slots) : iota(last.tracer(), DType::kI32, {layout_.batch, slots}, 1);
}

// [B, slots]: for each slot the row to take of (old slots, this call's tokens); in a prefill of (a row of zeros,
// tokens).
Tensor CachedKv::source_rows(int64_t slots) {
  Tracer& t = call_.positions.tracer();
  const Tensor position = held(last(), slots);
  if (is_prefill()) return select(compare(position, "GE", integer(t, 0)), position + 1, integer(t, 0));
  const Tensor slot = iota(t, DType::kI32, {layout_.batch, slots}, 1);
  const Tensor past = column(*call_.past);
  return select(compare(position, "GE", broadcast_to(past, position.shape())),
                position - past + static_cast<double>(slots), slot);
}

// The cache with each row's one token in its slot. Row by row, since rows are at different positions: a scatter would
// do them at once, and no engine here keeps it in place.
Tensor CachedKv::written(const Tensor& cache, const Tensor& token, int64_t slots) const {
  Tracer& t = cache.tracer();
  const Tensor zero = integer(t, 0);
  const Tensor slot = remainder(*call_.past, broadcast_to(integer(t, slots), call_.past->shape()));
  Tensor out = cache;
  for (int64_t row = 0; row < layout_.batch; ++row) {
    const Tensor at = reshape(slice(slot, 0, row, row + 1), {});
    out = dynamic_update_slice(out, slice(token, 0, row, row + 1), {integer(t, row), zero, at, zero});
  }
  return out;
}

KvCache::Keys CachedKv::fill(size_t i, const Kept& fresh) {
  const CacheLayer& layer = layout_.layers[i];
  const int64_t slots = layout_.slots(layer);
  if (is_prefill()) {
    const Tensor rows = source_rows(slots);
    kept_[i] = Kept{.k = take_rows(after_zero_row(fresh.k), rows), .v = take_rows(after_zero_row(fresh.v), rows)};
    return {.k = fresh.k, .v = fresh.v, .positions = call_.positions};
  }
  const Kept before = old(i);
  if (is_decode()) {
    kept_[i] = Kept{.k = written(before.k, fresh.k, slots), .v = written(before.v, fresh.v, slots)};
    return {.k = kept_[i]->k, .v = kept_[i]->v, .positions = slot_positions(layer, last())};
  }
  const Kept both{.k = concatenate({before.k, fresh.k}, 2), .v = concatenate({before.v, fresh.v}, 2)};
  const Tensor rows = source_rows(slots);
  kept_[i] = Kept{.k = take_rows(both.k, rows), .v = take_rows(both.v, rows)};
  if (!layout_.wraps(layer)) return {.k = kept_[i]->k, .v = kept_[i]->v, .positions = slot_positions(layer, last())};
  // Early tokens of the call still see slots that late ones take, so they look at the ring as it was.
  return {.k = both.k, .v = both.v, .positions = concatenate({held(*call_.past - 1, slots), call_positions()}, 1)};
}

}  // namespace headrace
