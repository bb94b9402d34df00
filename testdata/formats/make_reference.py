"""Writes reference.gguf (by gguf-py's writer) and reference.txt (what gguf-py's reader sees in it).

    python make_reference.py        (needs numpy and gguf; written with gguf 0.19.0)

reference.txt lists the keys, sorted, with the index of the type that ours must be (formats/checkpoint.h: 1 bool,
2 signed, 3 unsigned, 4 float, 5 string, 6 array), then the tensors in file order: name, type, shape, offset, bytes.
"""
from pathlib import Path

import gguf
import numpy as np

HERE = Path(__file__).parent
V = gguf.GGUFValueType
KIND = {V.BOOL: 1, V.STRING: 5, V.ARRAY: 6, V.FLOAT32: 4, V.FLOAT64: 4}
KIND |= {t: 2 for t in (V.INT8, V.INT16, V.INT32, V.INT64)}
KIND |= {t: 3 for t in (V.UINT8, V.UINT16, V.UINT32, V.UINT64)}


def write(path):
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_custom_alignment(64)
    for name, add, value in (
        ("u8", writer.add_uint8, 200), ("i8", writer.add_int8, -3), ("u16", writer.add_uint16, 60000),
        ("i16", writer.add_int16, -300), ("u32", writer.add_uint32, 1 << 31), ("i32", writer.add_int32, -70000),
        ("u64", writer.add_uint64, 1 << 63), ("i64", writer.add_int64, -(1 << 62)),
        ("f32", writer.add_float32, 1e-6), ("f64", writer.add_float64, 0.1), ("yes", writer.add_bool, True),
        ("text", writer.add_string, "gr\u00fc\u00dfe"), ("list", writer.add_array, [1, 2, 3]),
        ("words", writer.add_array, ["a", "bc", ""]), ("reals", writer.add_array, [0.5, -1.5]),
        ("flags", writer.add_array, [True, False]),
    ):
        add("test." + name, value)
    rng = np.random.default_rng(3)
    plain = rng.standard_normal((3, 64)).astype(np.float32)
    writer.add_tensor("f32", plain)
    writer.add_tensor("one", plain[0, :1])
    writer.add_tensor("f16", plain.astype(np.float16))
    for kind in ("BF16", "Q4_0", "Q4_1", "Q8_0"):
        kind = gguf.GGMLQuantizationType[kind]
        writer.add_tensor(kind.name.lower(), gguf.quants.quantize(plain, kind), raw_dtype=kind)
    writer.add_tensor("cube", rng.standard_normal((2, 3, 4)).astype(np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def main():
    path = HERE / "reference.gguf"
    write(path)
    reader = gguf.GGUFReader(path)
    keys = {k: KIND[f.types[0]] for k, f in reader.fields.items() if not k.startswith("GGUF.")}
    lines = [f"{key} = {keys[key]}" for key in sorted(keys)]
    for t in reader.tensors:
        shape = ",".join(str(n) for n in reversed(t.shape.tolist()))
        lines.append(f"{t.name} {t.tensor_type.name} [{shape}] {t.data_offset} {t.n_bytes}")
    (HERE / "reference.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
