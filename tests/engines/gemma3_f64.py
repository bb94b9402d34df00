"""Gemma 3's forward pass in numpy f64, straight from its definition: an oracle for weights that no golden fits.

The weights are read and dequantised by gguf-py. Nothing here is shared with what it checks.
"""

from __future__ import annotations

from pathlib import Path

import gguf
import numpy as np


class Gemma3:
    def __init__(self, path: Path) -> None:
        reader = gguf.GGUFReader(path)
        self._fields = {name: field.contents() for name, field in reader.fields.items() if name.startswith("gemma3.")}
        self._w = {t.name: gguf.quants.dequantize(t.data, t.tensor_type).astype(np.float64) for t in reader.tensors}
        self._heads, self._kv_heads = self._key("attention.head_count"), self._key("attention.head_count_kv")
        self._width = self._key("attention.key_length")

    def _key(self, name: str, default=None):
        return self._fields.get(f"gemma3.{name}", default)

    def _norm(self, x: np.ndarray, name: str) -> np.ndarray:
        epsilon = self._key("attention.layer_norm_rms_epsilon")
        return x / np.sqrt((x * x).mean(-1, keepdims=True) + epsilon) * self._w[name + ".weight"]

    def _rope(self, x: np.ndarray, base: float, factor: float) -> np.ndarray:
        """x [heads, tokens, width], pairs (i, i + width / 2). Angles are f32 products, as every implementation has them."""
        half = self._width // 2
        frequency = (base ** (-2.0 * np.arange(half) / self._width) / factor).astype(np.float32)
        angle = (np.arange(x.shape[1], dtype=np.float32)[:, None] * frequency).astype(np.float64)
        a, b = x[..., :half], x[..., half:]
        return np.concatenate([a * np.cos(angle) - b * np.sin(angle), b * np.cos(angle) + a * np.sin(angle)], -1)

    def _attention(self, x: np.ndarray, block: str, is_local: bool) -> np.ndarray:
        tokens = len(x)

        def heads(name: str, count: int) -> np.ndarray:
            return (x @ self._w[f"{block}.{name}.weight"].T).reshape(tokens, count, self._width).transpose(1, 0, 2)

        scaled = self._key("rope.scaling.type") == "linear" and not is_local
        base = self._key("rope.freq_base_swa", 10000.0) if is_local else self._key("rope.freq_base")
        factor = self._key("rope.scaling.factor") if scaled else 1.0
        q = self._rope(self._norm(heads("attn_q", self._heads), f"{block}.attn_q_norm"), base, factor)
        k = self._rope(self._norm(heads("attn_k", self._kv_heads), f"{block}.attn_k_norm"), base, factor)
        v = heads("attn_v", self._kv_heads)
        group = self._heads // self._kv_heads
        scores = q @ np.repeat(k, group, 0).transpose(0, 2, 1) * self._width**-0.5
        distance = np.arange(tokens)[:, None] - np.arange(tokens)[None, :]
        seen = (distance >= 0) & ((distance < self._key("attention.sliding_window")) | (not is_local))
        scores = np.where(seen, scores, -np.inf)
        p = np.exp(scores - scores.max(-1, keepdims=True))
        mixed = p / p.sum(-1, keepdims=True) @ np.repeat(v, group, 0)
        return mixed.transpose(1, 0, 2).reshape(tokens, -1) @ self._w[f"{block}.attn_output.weight"].T

    def _feed_forward(self, x: np.ndarray, block: str) -> np.ndarray:
        gate, up = x @ self._w[f"{block}.ffn_gate.weight"].T, x @ self._w[f"{block}.ffn_up.weight"].T
        gelu = 0.5 * gate * (1 + np.tanh(np.sqrt(2 / np.pi) * (gate + 0.044715 * gate**3)))
        return gelu * up @ self._w[f"{block}.ffn_down.weight"].T

    def logits(self, ids: list[int]) -> np.ndarray:
        embedding = self._w["token_embd.weight"]
        x = embedding[ids] * np.sqrt(embedding.shape[1])
        for i in range(self._key("block_count")):
            block = f"blk.{i}"
            mixed = self._attention(self._norm(x, f"{block}.attn_norm"), block, is_local=(i + 1) % 6 != 0)
            x = x + self._norm(mixed, f"{block}.post_attention_norm")
            fed = self._feed_forward(self._norm(x, f"{block}.ffn_norm"), block)
            x = x + self._norm(fed, f"{block}.post_ffw_norm")
        return self._norm(x, "output_norm") @ embedding.T
