"""Builds small GGUF and safetensors checkpoints, good ones and ones that are wrong on purpose. Standard library only.

    model = llama()                         # a two-layer llama with random f32 weights, about 90 KB
    model.set("llama.block_count", U32, 3)  # contradict it
    model.write(path)

Every number in the file can lie: give `version`, `magic`, `kv_count`, `tensor_count`, or a tensor's `offset`, `dims`.
"""

import dataclasses
import json
import math
import pathlib
import struct

U8, I8, U16, I16, U32, I32, F32, BOOL, STRING, ARRAY, U64, I64, F64 = range(13)
PACKING = {U8: "B", I8: "b", U16: "H", I16: "h", U32: "I", I32: "i", F32: "f", BOOL: "B", U64: "Q", I64: "q", F64: "d"}
U64_MASK = 2**64 - 1


def text(value):
    raw = value if isinstance(value, bytes) else value.encode()
    return struct.pack("<Q", len(raw)) + raw


def encode(kind, value):
    """A metadata value; an ARRAY's value is (item kind, items)."""
    if kind == STRING:
        return text(value)
    if kind == ARRAY:
        item_kind, items = value
        return struct.pack("<IQ", item_kind, len(items)) + b"".join(encode(item_kind, item) for item in items)
    if kind not in PACKING:
        return value  # bytes of a kind that does not exist
    return struct.pack("<" + PACKING[kind], value)


@dataclasses.dataclass
class Tensor:
    name: str
    dims: list  # innermost first, as in the file
    data: bytes
    type: int = 0  # 0 is F32
    offset: int | None = None


@dataclasses.dataclass
class Gguf:
    kvs: list = dataclasses.field(default_factory=list)  # (key, kind, value)
    tensors: list = dataclasses.field(default_factory=list)
    alignment: int = 32
    version: int = 3
    magic: bytes = b"GGUF"
    kv_count: int | None = None
    tensor_count: int | None = None

    def set(self, key, kind, value):
        """Replaces the key, or adds it."""
        for i, kv in enumerate(self.kvs):
            if kv[0] == key:
                self.kvs[i] = (key, kind, value)
                return self
        self.kvs.append((key, kind, value))
        return self

    def drop(self, *names):
        """Takes out keys and tensors."""
        known = {kv[0] for kv in self.kvs} | {t.name for t in self.tensors}
        assert set(names) <= known, set(names) - known
        self.kvs = [kv for kv in self.kvs if kv[0] not in names]
        self.tensors = [t for t in self.tensors if t.name not in names]
        return self

    def tensor(self, name):
        return next(t for t in self.tensors if t.name == name)

    def add(self, name, dims, data=None, type=0):
        count = 1
        for dim in dims:
            count *= dim
        self.tensors.append(Tensor(name, list(dims), bytes(4 * count) if data is None else data, type))
        return self

    def _padding(self, length):
        return bytes(-length % self.alignment)

    def header(self):
        counts = (len(self.tensors) if self.tensor_count is None else self.tensor_count,
                  len(self.kvs) if self.kv_count is None else self.kv_count)
        out = self.magic + struct.pack("<IQQ", self.version, *counts)
        for key, kind, value in self.kvs:
            out += text(key) + struct.pack("<I", kind) + encode(kind, value)
        position = 0
        for tensor in self.tensors:
            offset = position if tensor.offset is None else tensor.offset
            out += text(tensor.name) + struct.pack("<I", len(tensor.dims))
            out += b"".join(struct.pack("<Q", dim & U64_MASK) for dim in tensor.dims)
            out += struct.pack("<IQ", tensor.type, offset & U64_MASK)
            position += len(tensor.data) + len(self._padding(len(tensor.data)))
        return out

    def bytes(self):
        header = self.header()
        data = b"".join(t.data + self._padding(len(t.data)) for t in self.tensors)
        return header + self._padding(len(header)) + data

    def write_sparse(self, path):
        """Writes a file of f32 tensors as its dims say, all holes: any size, no disk."""
        position = 0
        for tensor in self.tensors:
            tensor.data, tensor.offset = b"", position
            size = 4
            for dim in tensor.dims:
                size *= dim
            position += size + -size % self.alignment
        header = self.header()
        with open(path, "wb") as file:
            file.write(header)
            file.truncate(len(header) + len(self._padding(len(header))) + position)
        return path

    def write(self, path):
        pathlib.Path(path).write_bytes(self.bytes())
        return path


class Noise:
    """Reproducible numbers in [-0.5, 0.5): a linear congruential generator, the upper bits of its state."""

    def __init__(self, seed):
        self.state = seed

    def floats(self, count, center=0.0):
        values = []
        for _ in range(count):
            self.state = (self.state * 6364136223846793005 + 1442695040888963407) & U64_MASK
            values.append(center + (self.state >> 40) / 2.0**24 - 0.5)
        return struct.pack(f"<{count}f", *values)


def llama(layers=2, width=32, ffn=64, heads=4, kv_heads=2, head_dim=8, vocab=48, context=64, tied=False, seed=7):
    """A llama with a byte-level vocabulary: ids 0-2 are control tokens, the others spell ASCII from '!' on."""
    noise = Noise(seed)
    model = Gguf()
    for key, kind, value in [
        ("general.architecture", STRING, "llama"),
        ("general.name", STRING, "toy"),
        ("llama.block_count", U32, layers),
        ("llama.context_length", U32, context),
        ("llama.embedding_length", U32, width),
        ("llama.feed_forward_length", U32, ffn),
        ("llama.attention.head_count", U32, heads),
        ("llama.attention.head_count_kv", U32, kv_heads),
        ("llama.attention.key_length", U32, head_dim),
        ("llama.attention.value_length", U32, head_dim),
        ("llama.attention.layer_norm_rms_epsilon", F32, 1e-5),
        ("llama.rope.dimension_count", U32, head_dim),
        ("llama.rope.freq_base", F32, 10000.0),
        ("llama.vocab_size", U32, vocab),
        ("tokenizer.ggml.model", STRING, "gpt2"),
        ("tokenizer.ggml.tokens", ARRAY, (STRING, ["<s>", "</s>", "<pad>"] + [chr(33 + i) for i in range(vocab - 3)])),
        ("tokenizer.ggml.token_type", ARRAY, (I32, [3] * 3 + [1] * (vocab - 3))),
        ("tokenizer.ggml.bos_token_id", U32, 0),
        ("tokenizer.ggml.eos_token_id", U32, 1),
    ]:
        model.set(key, kind, value)

    def weight(name, *dims, center=0.0):
        count = 1
        for dim in dims:
            count *= dim
        model.add(name, dims, noise.floats(count, center))

    weight("token_embd.weight", width, vocab)
    for layer in range(layers):
        block = f"blk.{layer}."
        weight(block + "attn_norm.weight", width, center=1.0)
        weight(block + "attn_q.weight", width, heads * head_dim)
        weight(block + "attn_k.weight", width, kv_heads * head_dim)
        weight(block + "attn_v.weight", width, kv_heads * head_dim)
        weight(block + "attn_output.weight", heads * head_dim, width)
        weight(block + "ffn_norm.weight", width, center=1.0)
        weight(block + "ffn_gate.weight", width, ffn)
        weight(block + "ffn_up.weight", width, ffn)
        weight(block + "ffn_down.weight", ffn, width)
    weight("output_norm.weight", width, center=1.0)
    if not tied:
        weight("output.weight", width, vocab)
    return model


SAFETENSORS_BITS = {"BOOL": 8, "F4": 4, "F6_E2M3": 6, "F6_E3M2": 6, "U8": 8, "I8": 8, "F8_E5M2": 8, "F8_E4M3": 8, "F8_E8M0": 8,
                    "F8_E4M3FNUZ": 8, "F8_E5M2FNUZ": 8, "I16": 16, "U16": 16, "F16": 16, "BF16": 16, "I32": 32, "U32": 32,
                    "F32": 32, "C64": 64, "F64": 64, "I64": 64, "U64": 64}


def safetensors(tensors, metadata=None):
    """A safetensors file: name -> (dtype, shape) of zeros, or (dtype, shape, data)."""
    header, data = ({"__metadata__": metadata} if metadata is not None else {}), b""
    for name, (dtype, shape, *given) in tensors.items():
        size = math.prod(shape) * SAFETENSORS_BITS[dtype] // 8
        content = given[0] if given else bytes(size)
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(content)]}
        data += content
    return safetensors_raw(json.dumps(header, separators=(",", ":")), data)


def safetensors_raw(header, data=b""):
    """A length word, these bytes, this data."""
    raw = header if isinstance(header, bytes) else header.encode()
    return struct.pack("<Q", len(raw)) + raw + data
