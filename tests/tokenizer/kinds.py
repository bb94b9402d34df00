"""Small tokenizers of every kind: tokenizer.json files by Hugging Face's trainers, GGUF files by gguf-py from any of ours."""

import json
import pathlib
import random
import re
import unicodedata

from texts import CODE, DIGITS, EMOJI, MARKS, WORDS

LLAMA3 = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
QWEN2 = LLAMA3.replace(r"\p{N}{1,3}", r"\p{N}")
O200K = "|".join([
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    r"\p{N}{1,3}", r" ?[^\s\p{L}\p{N}]+[\r\n/]*", r"\s*[\r\n]+", r"\s+(?!\S)", r"\s+"])
DEEPSEEK = ["\\p{N}{1,3}", "[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+",
            r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"]
SPECIAL = ["<s>", "</s>", "<unk>", "<|im_start|>", "<|im_end|>"]


def corpus(seed=3, lines=3000):
    pick = random.Random(seed)
    others = CODE + EMOJI + MARKS + DIGITS + ["caf\u00e9", "na\u00efve", "\u00dcber", "\u4f60\u597d\u4e16\u754c", "\u3053\u3093\u306b\u3061\u306f", "\u041f\u0440\u0438\u0432\u0435\u0442", "e\u0301"]
    for _ in range(lines):
        yield " ".join(pick.choice(WORDS if pick.random() < 0.8 else others) for _ in range(pick.randint(3, 15)))


def _byte_level(pre, normalizer=None, special=SPECIAL, post=None, ignore_merges=False):
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    tokenizer = Tokenizer(models.BPE(ignore_merges=ignore_merges))
    tokenizer.pre_tokenizer = pre
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(vocab_size=1200, special_tokens=special, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False)
    tokenizer.train_from_iterator(corpus(), trainer)
    if post is not None:
        tokenizer.post_processor = post
    return tokenizer


def _bos(eos=False):
    from tokenizers import processors
    return processors.TemplateProcessing(single="<s> $A </s>" if eos else "<s> $A", pair="<s> $A $B", special_tokens=[("<s>", 0), ("</s>", 1)])


def gpt2():
    from tokenizers import pre_tokenizers
    return _byte_level(pre_tokenizers.ByteLevel(add_prefix_space=False))


def roberta():
    from tokenizers import AddedToken, pre_tokenizers, processors
    tokenizer = _byte_level(pre_tokenizers.ByteLevel(add_prefix_space=True))
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 1), ("<s>", 0))
    tokenizer.add_special_tokens([AddedToken("<mask>", lstrip=True)])
    tokenizer.add_tokens([AddedToken("day", single_word=True), AddedToken("[table]", rstrip=True, normalized=False), "world still"])
    return tokenizer


def _split(pattern):
    from tokenizers import Regex, pre_tokenizers
    return pre_tokenizers.Split(Regex(pattern), "isolated")


def _sequence(*patterns):
    from tokenizers import pre_tokenizers
    return pre_tokenizers.Sequence([_split(p) for p in patterns] + [pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])


def llama3():
    return _byte_level(_sequence(LLAMA3), post=_bos(), ignore_merges=True)


def qwen2():
    from tokenizers import normalizers
    return _byte_level(_sequence(QWEN2), normalizer=normalizers.NFC())


def o200k():
    return _byte_level(_sequence(O200K))


def deepseek():
    return _byte_level(_sequence(*DEEPSEEK), post=_bos(eos=True))


def smollm():
    from tokenizers import pre_tokenizers
    return _byte_level(pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]))


def digits_punctuation():
    from tokenizers import normalizers, pre_tokenizers
    pre = pre_tokenizers.Sequence([pre_tokenizers.Digits(), pre_tokenizers.Punctuation("contiguous"), pre_tokenizers.Split(" ", "merged_with_next"),
                                   pre_tokenizers.CharDelimiterSplit("="), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    return _byte_level(pre, normalizer=normalizers.Sequence([normalizers.NFKD(), normalizers.StripAccents(), normalizers.Lowercase(), normalizers.Strip()]))


def whitespace():
    from tokenizers import normalizers, pre_tokenizers
    from tokenizers import Regex
    pre = pre_tokenizers.Sequence([pre_tokenizers.Whitespace(), pre_tokenizers.Punctuation("merged_with_previous"), pre_tokenizers.ByteLevel(add_prefix_space=True, use_regex=False)])
    return _byte_level(pre, normalizer=normalizers.Sequence([normalizers.NFKC(), normalizers.Replace(Regex(r"\d+"), "#"), normalizers.Replace("the", "THE")]))


def _characters(unk=None, fallback=True, fuse=True):
    """Character BPE: what converters of SentencePiece models write."""
    from tokenizers import Tokenizer, models, normalizers, trainers
    special = ["<unk>", "<s>", "</s>"]
    tokens = [f"<0x{b:02X}>" for b in range(256)] if fallback else []
    tokenizer = Tokenizer(models.BPE(unk_token=unk, fuse_unk=fuse, byte_fallback=fallback))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("\u2581"), normalizers.Replace(" ", "\u2581")])
    trainer = trainers.BpeTrainer(vocab_size=1500, special_tokens=special + tokens, show_progress=False, limit_alphabet=120, max_token_length=12)
    tokenizer.train_from_iterator((line.replace(" ", " \x00").split("\x00") if False else line for line in corpus()), trainer)
    data = json.loads(tokenizer.to_str())
    data["added_tokens"] = [t for t in data["added_tokens"] if not t["content"].startswith("<0x")]  # bytes are ordinary pieces
    return Tokenizer.from_str(json.dumps(data))


def llama2():
    from tokenizers import decoders, processors
    tokenizer = _characters(unk="<unk>")
    tokenizer.decoder = decoders.Sequence([decoders.Replace("\u2581", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)])
    tokenizer.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 1)])
    return tokenizer


def gemma():
    from tokenizers import decoders, normalizers, pre_tokenizers
    tokenizer = _characters(unk="<unk>")
    tokenizer.normalizer = normalizers.Replace(" ", "\u2581")
    tokenizer.pre_tokenizer = pre_tokenizers.Split(" ", "merged_with_previous")
    tokenizer.decoder = decoders.Sequence([decoders.Replace("\u2581", " "), decoders.ByteFallback(), decoders.Fuse()])
    tokenizer.add_tokens(["\n\n", "  ", "<table>"])
    return tokenizer


def unknown_fused():
    return _characters(unk="<unk>", fallback=False)


def unknown_single():
    return _characters(unk="<unk>", fallback=False, fuse=False)


def unknown_dropped():
    return _characters(unk=None, fallback=False)


def _unigram(byte_fallback=False):
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    extra = [f"<0x{b:02X}>" for b in range(256)] if byte_fallback else []
    trainer = trainers.UnigramTrainer(vocab_size=900, special_tokens=["<pad>", "</s>", "<unk>"] + extra, unk_token="<unk>", show_progress=False)
    tokenizer.train_from_iterator(corpus(), trainer)
    data = json.loads(tokenizer.to_str())
    data["model"]["byte_fallback"] = byte_fallback
    data["added_tokens"] = [t for t in data["added_tokens"] if not t["content"].startswith("<0x")]
    return Tokenizer.from_str(json.dumps(data))


def t5():
    from tokenizers import decoders, normalizers, pre_tokenizers, processors
    tokenizer = _unigram()
    tokenizer.normalizer = normalizers.Sequence([normalizers.Precompiled(charsmap()), normalizers.Strip(), normalizers.Replace(__import__("tokenizers").Regex(" {2,}"), "\u2581")])
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()])
    tokenizer.decoder = decoders.Metaspace()
    tokenizer.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 1)])
    return tokenizer


def unigram_bytes():
    from tokenizers import decoders, pre_tokenizers
    tokenizer = _unigram(byte_fallback=True)
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first", split=False)
    tokenizer.decoder = decoders.Sequence([decoders.ByteFallback(), decoders.Metaspace(prepend_scheme="first")])
    return tokenizer


def charsmap():
    """A precompiled map of characters, made by SentencePiece from rules of our own."""
    import io
    import sentencepiece
    import tempfile
    import os
    with tempfile.TemporaryDirectory() as folder:
        rules = os.path.join(folder, "rules.tsv")
        pairs = [("\u00a0", " "), ("\t", " "), ("\n", " "), ("\u3000", " "), ("\u2026", "..."), ("\uff21", "A"), ("\ufb01", "fi"), ("e\u0301", "\u00e9"), ("\u200b", ""), ("\u00bd", "1/2"), ("\uff11", "1"),
                 ("\u2167", "VIII"), ("\U0001d7ce", "0"), ("\u0e34", "i"), ("a\u0301", "\u00e1"), ("\u201c", "\"")]
        with open(rules, "w") as out:
            for source, target in pairs:
                out.write(" ".join(f"{ord(c):X}" for c in source) + "\t" + " ".join(f"{ord(c):X}" for c in target) + "\n")
        model = io.BytesIO()
        sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(list(corpus(lines=300))), model_writer=model, vocab_size=250, normalization_rule_tsv=rules, hard_vocab_limit=False,
                                                 minloglevel=2)
        from sentencepiece import sentencepiece_model_pb2 as pb
        proto = pb.ModelProto()
        proto.ParseFromString(model.getvalue())
        return proto.normalizer_spec.precompiled_charsmap


HF_KINDS = {f.__name__: f for f in (gpt2, roberta, llama3, qwen2, o200k, deepseek, smollm, digits_punctuation, whitespace, llama2, gemma, unknown_fused, unknown_single, unknown_dropped, t5,
                                    unigram_bytes)}


def _writer(path):
    import gguf
    writer = gguf.GGUFWriter(str(path), "llama")
    for add, value in ((writer.add_block_count, 1), (writer.add_context_length, 64), (writer.add_embedding_length, 32), (writer.add_feed_forward_length, 32), (writer.add_head_count, 1),
                       (writer.add_layer_norm_rms_eps, 1e-5)):
        add(value)
    return writer


def _finish(writer):
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()


def byte_level_gguf(path, pre, source):
    """The vocabulary of a byte-level tokenizer.json under a pre-tokenizer's name."""
    import gguf
    data = json.loads(source.read_text())
    added = {t["id"]: t for t in data["added_tokens"]}
    pieces = {**{i: p for p, i in data["model"]["vocab"].items()}, **{i: t["content"] for i, t in added.items()}}
    count = max(pieces) + 1
    writer = _writer(path)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre(pre)
    writer.add_token_list([pieces[i] for i in range(count)])
    writer.add_token_types([gguf.TokenType.CONTROL if added.get(i, {}).get("special") else gguf.TokenType.USER_DEFINED if i in added else gguf.TokenType.NORMAL for i in range(count)])
    writer.add_token_merges([m if isinstance(m, str) else " ".join(m) for m in data["model"]["merges"]])
    writer.add_bos_token_id(0)
    writer.add_eos_token_id(1)
    _finish(writer)


def _sentencepiece(kind, size, **options):
    """A trained SentencePiece model: its proto."""
    import io
    import sentencepiece
    from sentencepiece import sentencepiece_model_pb2 as pb
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(list(corpus())), model_writer=model, model_type=kind, vocab_size=size, hard_vocab_limit=False, minloglevel=2, **options)
    proto = pb.ModelProto()
    proto.ParseFromString(model.getvalue())
    return proto


def sentencepiece_gguf(path, kind, add_space_prefix=True, remove_extra=False, user_defined=()):
    """`llama`: BPE with byte pieces; `t5`: unigram with a map of characters."""
    import gguf
    bytes_too = kind == "llama"
    proto = _sentencepiece("bpe" if bytes_too else "unigram", 1200, byte_fallback=bytes_too, user_defined_symbols=list(user_defined), character_coverage=0.999,
                           **({"normalization_rule_name": "identity"} if bytes_too else {"normalization_rule_name": "nmt_nfkc"}))
    writer = _writer(path)
    writer.add_tokenizer_model(kind)
    writer.add_tokenizer_pre("default")
    writer.add_token_list([p.piece for p in proto.pieces])
    writer.add_token_scores([p.score for p in proto.pieces])
    writer.add_token_types([p.type for p in proto.pieces])  # the numbers are SentencePiece's
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(0)
    writer.add_add_space_prefix(add_space_prefix)
    if not bytes_too:
        writer.add_remove_extra_whitespaces(remove_extra)
        writer.add_precompiled_charsmap(charsmap())
    _finish(writer)


GGUF_KINDS = {
    "llama": dict(kind="llama"),
    "llama_no_prefix": dict(kind="llama", add_space_prefix=False, user_defined=["<table>", "\u2581\u2581", "of the"]),
    "t5": dict(kind="t5"),
    "t5_no_prefix": dict(kind="t5", add_space_prefix=False),
    "t5_remove_extra": dict(kind="t5", remove_extra=True),
}


def decodes_otherwise(data):
    """Whether llama.cpp reads characters where Unicode sees none: overlong forms, surrogates."""
    at = 0
    while at < len(data):
        lead = data[at]
        length = 1 if lead < 0x80 else 0 if lead < 0xC0 else 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4 if lead < 0xF8 else 0
        whole = data[at:at + length]
        if length == 0 or len(whole) < length or any(b & 0xC0 != 0x80 for b in whole[1:]):
            at += 1
            continue
        try:
            whole.decode()
        except UnicodeDecodeError:
            return True
        at += length
    return False


def unassigned(data):
    """Whether a text holds characters that Unicode 14 does not know: their classes depend on the version of the tables."""
    return any(unicodedata.category(c) == "Cn" for c in data.decode(errors="replace"))


# Kinds whose normalizers or classes come from tables of Unicode 9 or so in Hugging Face's library.
OLD_TABLES = {"qwen2", "digits_punctuation", "whitespace"}


def pretokenizers():
    table = (pathlib.Path(__file__).resolve().parents[2] / "src/tokenizer/pretokenizers.def").read_text()
    return re.findall(r'^HR_PRETOKENIZER\("([^"]+)"', table, re.MULTILINE)


def gguf_kinds():
    return [f"pre:{name}" for name in pretokenizers()] + [f"gguf:{name}" for name in GGUF_KINDS]


def make_gguf(kind, folder, byte_level):
    """The file of one of gguf_kinds(); `byte_level` is a byte-level tokenizer.json."""
    path = folder / (kind.replace(":", "_") + ".gguf")
    group, name = kind.split(":", 1)
    if group == "pre":
        byte_level_gguf(path, name, byte_level)
    else:
        sentencepiece_gguf(path, **GGUF_KINDS[name])
    return path


def explained(gguf):
    """Which texts may differ from llama.cpp's ids, by docs/tokenizers.md."""
    from gguf import GGUFReader
    model = GGUFReader(str(gguf)).fields["tokenizer.ggml.model"].contents()
    if model == "llama":
        return lambda text, parse_special: not is_utf8(text)
    return lambda text, parse_special: decodes_otherwise(text) or unassigned(text)


def is_utf8(data):
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
