"""Texts to tokenize: random, of every kind that pre-tokenizers tell apart. The same for a seed everywhere."""

import random
import unicodedata

WORDS = """the of and to in a is that for it as was with be by on not he I this are or his from at which but have an had they you were
their one all we can her has there been if more when will would who so no out up said what its about than into them only time new some
could these two may then do first any my now such like our over man me even most made after also did many before must through years
where much your way well down should because each just those people how too little state good very make world still see own work long
here get both between life being under never day same another know while last might us great old year off come since against go came
right used take three Transformer tokenization internationalisation don't can't I'll WE'VE they'd He'S 'tis it's""".split()

CODE = ["def f(x):\n    return x + 1\n", "for (int i = 0; i < n; ++i) {\n\tsum += a[i];\n}\n", "SELECT * FROM t WHERE id=42;", "<div class=\"a\">x</div>",
        "if(a&&b||!c){return;}", "x = {'key': [1, 2.5e-3]}\n", "#include <vector>\n// comment\n", "let s = \"a\\n\\t\\\"b\\\"\";", "```python\nprint('hi')\n```",
        "https://example.org/a/b?c=d&e=%20f#g", "\\frac{1}{2}\\sum_{i=0}^{n}", "0x1F 0b101 1_000_000 3.14159 1e10 -5", "\r\n\r\n\t\t  \n", "a->b::c<d>()", "$HOME/.bashrc",
        "@decorator", "x ** 2 // 3 % 4 ^ 5 ~ 6 | 7"]

EMOJI = ["\U0001f600", "\U0001f468\u200d\U0001f469\u200d\U0001f467", "\U0001f1e9\U0001f1ea", "\u2764\ufe0f", "\U0001f44d\U0001f3fd", "#\ufe0f\u20e3", "\U0001f3f4\U000e0067\U000e0062\U000e007f",
         "\u263a", "\U0001f9d1\u200d\U0001f4bb"]

SPACES = [" ", "  ", "   ", "\n", "\n\n", "\t", "\r\n", "\r", "\u00a0", "\u3000", "\u2003", "\u2028", "\u0085", "\u200b", "\u180e", "\x0b", "\x0c", "\ufeff", "    ", "\n \n"]

MARKS = list("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~") + ["\u2581", "\u2026", "\u3002", "\u00bf", "\u00ab", "\u201c", "\u2019", "\u2014", "\u20ac", "\u00a7", "..", "...", "--", "'s", "'S", "'ll", "'RE", "'\u017f"]

DIGITS = [str(n) for n in (0, 1, 12, 123, 1234, 12345, 1234567, 10 ** 20)] + ["\u00b2", "\u00bd", "\u0663\u0664", "\u2167", "\uff11\uff12", "\u0967", "\U0001d7ce"]

SPECIAL = ["<|im_start|>", "<|im_end|>", "<|endoftext|>", "<s>", "</s>", "<bos>", "<eos>", "<unk>", "<pad>", "<start_of_turn>", "<end_of_turn>", "<|im_start", "<unused3>", "[PAD]", "<0x0A>",
           "<0xff>", "<table>", "<mask>", "[multimodal]"]

ORDINARY = ("L", "M", "N", "P", "S", "Z")


def _assigned(database):
    """Characters by their block of 256."""
    blocks = {}
    for code in range(0x20, 0x110000):
        if database.category(chr(code))[0] in ORDINARY and not 0xD800 <= code < 0xE000:
            blocks.setdefault(code >> 8, []).append(chr(code))
    return list(blocks.values())


class Texts:
    """`database` says which characters there are: unicodedata, or unicodedata.ucd_3_2_0 where the other side's tables are old (a character
    that is not in a table has another class there, and no decomposition)."""

    def __init__(self, seed, database=unicodedata):
        self.random = random.Random(seed)
        self.blocks = _assigned(database)
        self.early = [b for b in self.blocks if ord(b[0]) < 0x3000]

    def block(self):
        chars = self.random.choice(self.early if self.random.random() < 0.7 else self.blocks)
        text = "".join(self.random.choice(chars) for _ in range(self.random.randint(1, 8)))
        return unicodedata.normalize("NFD", text) if self.random.random() < 0.2 else text

    def prose(self):
        words = [self.random.choice(WORDS) for _ in range(self.random.randint(1, 12))]
        words = [w.upper() if self.random.random() < 0.05 else w.capitalize() if self.random.random() < 0.1 else w for w in words]
        return " ".join(words)

    def letters(self):
        alphabet = self.random.choice(["abc", "aA", "ab ", "0123456789", "a1", "\u00e9\u00c9aZ", "xyz'", "\u0430\u0411c", "\u4e00\u3042\u30a2", "\u0e01\u0e34", "a\u0301e\u0308", " \n", " \t\n\u3000"])
        return "".join(self.random.choice(alphabet) for _ in range(self.random.randint(1, 30)))

    def part(self):
        pick = self.random.random()
        for share, make in ((0.22, self.prose), (0.42, self.block), (0.52, self.letters), (0.62, lambda: self.random.choice(SPACES) * self.random.randint(1, 5)),
                            (0.72, lambda: self.random.choice(MARKS) * self.random.randint(1, 3)), (0.80, lambda: self.random.choice(DIGITS)),
                            (0.87, lambda: self.random.choice(CODE)), (0.93, lambda: self.random.choice(EMOJI))):
            if pick < share:
                return make()
        return self.random.choice(SPECIAL)

    def text(self):
        return "".join(self.part() + (" " if self.random.random() < 0.3 else "") for _ in range(self.random.randint(1, 6)))

    def bytes(self):
        """A text, one in eight with bytes that are no UTF-8: cut, stray and lone ones, but no overlong forms or surrogates."""
        data = bytearray(self.text().encode())
        if data and self.random.random() < 0.125:
            for _ in range(self.random.randint(1, 3)):
                at = self.random.randrange(len(data) + 1)
                data[at:at] = self.random.choice([b"\x80", b"\xbf\xbf", b"\xff", b"\xfe", b"\xc3", b"\xe2\x82", b"\xf0\x9f\x98"])
        return bytes(data)

    def many(self, count):
        return [self.bytes() for _ in range(count)]
