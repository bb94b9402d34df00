"""Small tokenizers of every kind: tokenizer.json files by Hugging Face's trainers, GGUF files by gguf-py from any of ours."""

import json
import random

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
