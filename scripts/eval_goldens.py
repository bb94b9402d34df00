#!/usr/bin/env python3
"""llama.cpp's nll and perplexity of token ids, in windows as `headrace eval` has them: the oracle of testdata/eval/smollm2.json.

    scripts/eval_goldens.py to-f32 MODEL.gguf OUT.gguf       every tensor dequantised by gguf-py, so that nothing is rounded later
    scripts/eval_goldens.py score MODEL.gguf IDS CONTEXT STRIDE

IDS is a file of comma-separated ids (`headrace tokenize MODEL --file TEXT -q`). Needs gguf, numpy, and for `score`
llama-cpp-python 0.3.36, which is not among the tests' packages.
"""

import json
import sys

import numpy as np


def to_f32(source, target):
    import gguf

    reader, writer = gguf.GGUFReader(source), gguf.GGUFWriter(target, "llama")
    for field in reader.fields.values():
        if field.name.startswith("GGUF.") or field.name in ("general.architecture", "general.file_type"):
            continue
        kind = field.types[0]
        item = {"sub_type": field.types[1]} if kind == gguf.GGUFValueType.ARRAY else {}
        writer.add_key_value(field.name, field.contents(), kind, **item)
    for tensor in reader.tensors:
        writer.add_tensor(tensor.name, gguf.quants.dequantize(tensor.data, tensor.tensor_type).astype(np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def open_llama(path, context):
    import llama_cpp as llama

    llama.llama_backend_init()
    model = llama.llama_model_load_from_file(path.encode(), llama.llama_model_default_params())
    options = llama.llama_context_default_params()
    options.n_ctx = options.n_batch = options.n_ubatch = context
    options.type_k = options.type_v = 0  # f32
    options.flash_attn_type = 0
    made = llama.llama_init_from_model(model, options)
    vocabulary = llama.llama_vocab_n_tokens(llama.llama_model_get_vocab(model))
    batch = llama.llama_batch_init(context, 0, 1)

    def rows(tokens):
        llama.llama_memory_clear(llama.llama_get_memory(made), True)
        batch.n_tokens = len(tokens)
        for i, token in enumerate(tokens):
            batch.token[i], batch.pos[i], batch.n_seq_id[i], batch.logits[i] = token, i, 1, 1
            batch.seq_id[i][0] = 0
        if llama.llama_decode(made, batch) != 0:
            raise RuntimeError("llama_decode failed")
        return np.ctypeslib.as_array(llama.llama_get_logits(made), shape=(len(tokens), vocabulary))

    return rows


def score(path, ids, context, stride):
    rows = open_llama(path, context)
    nll, count, top1, known, start = 0.0, 0, 0, 1, 0
    while known < len(ids):
        window = ids[start:start + min(context, len(ids) - 1 - start)]
        logits = rows(window)
        for target in range(max(known, start + 1), start + len(window) + 1):
            row = logits[target - start - 1].astype(np.float64)
            nll += row.max() + np.log(np.exp(row - row.max()).sum()) - row[ids[target]]
            top1 += int(row.argmax() == ids[target])
            count += 1
        known, start = start + len(window) + 1, start + stride
    return {"predicted": count, "nll": nll, "mean_nll": nll / count, "perplexity": float(np.exp(nll / count)), "top1": top1}


if __name__ == "__main__":
    if sys.argv[1] == "to-f32":
        to_f32(*sys.argv[2:])
    else:
        model_path, ids_path, window_tokens, step = sys.argv[2:]
        print(json.dumps(score(model_path, [int(i) for i in open(ids_path).read().split(",")], int(window_tokens), int(step))))
