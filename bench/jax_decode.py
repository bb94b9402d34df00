"""A decode loop as a JAX user would write it by hand, to compare exports with: a llama (grouped-query attention, RoPE, RMS norms,
SwiGLU) over static caches, jitted, the caches donated. It reads configuration and weights from an export; nothing else of it."""

from __future__ import annotations

import functools
import time
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import headrace


class Llama:
    def __init__(self, directory: str, capacity: int) -> None:
        export = headrace.load(directory)
        if export.manifest.model.architecture != "llama":
            raise SystemExit(f"{directory}: {export.manifest.model.architecture}, this loop is a llama's")
        config = {c.key: c.value for c in export.manifest.model.configuration}
        self.layers, self.heads, self.kv_heads = (int(config[key]) for key in ("layers", "heads", "kv_heads"))
        self.head_dim, self.eps, self.base = int(config["head_width"]), float(config["norm_eps"]), float(config["rope_base"])
        self.capacity = capacity
        self.weights = {p.name: jax.device_put(export.parameter(p.name)) for p in export.manifest.parameters}

    def caches(self) -> list[tuple[jax.Array, jax.Array]]:
        shape = (1, self.kv_heads, self.capacity, self.head_dim)
        return [(jnp.zeros(shape), jnp.zeros(shape)) for _ in range(self.layers)]

    def norm(self, x: jax.Array, weight: jax.Array) -> jax.Array:
        return x * jax.lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + self.eps) * weight

    def rope(self, x: jax.Array, positions: jax.Array) -> jax.Array:
        """Neighbouring lanes are a pair, as rows of q and k lie in a llama GGUF. x: [heads, n, head_dim]."""
        frequency = self.base ** (-jnp.arange(0, self.head_dim, 2) / self.head_dim)
        angle = positions[:, None] * frequency
        cos, sin = jnp.cos(angle), jnp.sin(angle)
        even, odd = x[..., 0::2], x[..., 1::2]
        return jnp.stack([even * cos - odd * sin, even * sin + odd * cos], -1).reshape(x.shape)

    @functools.partial(jax.jit, static_argnums=0, donate_argnums=3)
    def step(self, w: dict[str, Any], tokens: jax.Array, caches: Any, position: jax.Array) -> tuple[jax.Array, Any]:
        """Logits of the last of `tokens` [n], which begin at `position`, and the caches with them."""
        n = tokens.shape[0]
        positions = position + jnp.arange(n)
        visible = jnp.arange(self.capacity)[None] <= positions[:, None]
        x, kept = w["token_embd.weight"][tokens], []
        for i in range(self.layers):
            get = lambda name: w[f"blk.{i}.{name}.weight"]  # noqa: B023, E731
            split = lambda y, heads: y.reshape(n, heads, self.head_dim).swapaxes(0, 1)  # noqa: E731
            h = self.norm(x, get("attn_norm"))
            q = self.rope(split(h @ get("attn_q").T, self.heads), positions)
            k = self.rope(split(h @ get("attn_k").T, self.kv_heads), positions)
            v = split(h @ get("attn_v").T, self.kv_heads)
            keys = jax.lax.dynamic_update_slice(caches[i][0], k[None], (0, 0, position, 0))
            values = jax.lax.dynamic_update_slice(caches[i][1], v[None], (0, 0, position, 0))
            kept.append((keys, values))
            q = q.reshape(self.kv_heads, self.heads // self.kv_heads, n, self.head_dim)
            scores = jnp.einsum("kgnd,kcd->kgnc", q, keys[0]) / np.sqrt(self.head_dim)
            mixed = jnp.einsum("kgnc,kcd->kgnd", jax.nn.softmax(jnp.where(visible, scores, -jnp.inf), -1), values[0])
            mixed = mixed.reshape(self.heads, n, self.head_dim).swapaxes(0, 1).reshape(n, -1)
            x = x + mixed @ get("attn_output").T
            h = self.norm(x, get("ffn_norm"))
            x = x + (jax.nn.silu(h @ get("ffn_gate").T) * (h @ get("ffn_up").T)) @ get("ffn_down").T
        head = w.get("output.weight", w["token_embd.weight"])
        return self.norm(x[-1], w["output_norm.weight"]) @ head.T, kept


def generate(directory: str, prompt: list[int], count: int, capacity: int) -> dict[str, Any]:
    """Tokens, seconds to the first one and seconds for each further one; compiled before the clock starts."""
    model = Llama(directory, capacity)

    def run(steps: int) -> tuple[list[int], float, float]:
        caches, start = model.caches(), time.perf_counter()
        logits, caches = model.step(model.weights, jnp.array(prompt, jnp.int32), caches, 0)
        tokens = [int(np.asarray(logits).argmax())]
        first = time.perf_counter() - start
        while len(tokens) < steps:
            position = len(prompt) + len(tokens) - 1
            logits, caches = model.step(model.weights, jnp.array(tokens[-1:], jnp.int32), caches, position)
            tokens.append(int(np.asarray(logits).argmax()))
        return tokens, first, time.perf_counter() - start

    run(3)
    tokens, first, whole = run(count)
    return {"tokens": tokens, "first": first, "step": (whole - first) / (count - 1)}
