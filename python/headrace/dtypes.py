"""Element types: the manifest's names, numpy's types and safetensors' names."""

from __future__ import annotations

import numpy as np

# name: (bytes, numpy's name, safetensors' name)
TABLE = {
    "i1": (1, "bool", "BOOL"),
    "i8": (1, "int8", "I8"),
    "i16": (2, "int16", "I16"),
    "i32": (4, "int32", "I32"),
    "i64": (8, "int64", "I64"),
    "u8": (1, "uint8", "U8"),
    "u16": (2, "uint16", "U16"),
    "u32": (4, "uint32", "U32"),
    "u64": (8, "uint64", "U64"),
    "f16": (2, "float16", "F16"),
    "bf16": (2, "bfloat16", "BF16"),
    "f32": (4, "float32", "F32"),
    "f64": (8, "float64", "F64"),
}


def size_of(name: str) -> int:
    """Bytes of one element."""
    return TABLE[name][0]


def numpy_dtype(name: str) -> np.dtype:
    """The numpy type. bf16 needs ml_dtypes, which comes with jax; without it ``ImportError``."""
    if name == "bf16":
        import ml_dtypes

        return np.dtype(ml_dtypes.bfloat16)
    return np.dtype(TABLE[name][1])


def safetensors_name(name: str) -> str:
    return TABLE[name][2]
