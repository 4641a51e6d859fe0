"""Writes corpus.json.gz: pieces of text, how to put two megabytes together from them, and a hash of the ids of each part
by Hugging Face tokenizers.

    python corpus.py ~/.cache/kgen/models/SmolLM2-135M-Instruct.Q4_1.gguf
"""
import gzip, hashlib, json, pathlib, struct, sys
import gguf, tokenizers
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers

here = pathlib.Path(__file__).parent
pieces = [
    # code
    "func main() {\n\tfor i := 0; i < 10; i++ {\n\t\tfmt.Println(i)\n\t}\n}\n", "if (a[i] != NULL && *p++ == '\\0') return -1;\r\n",
    "def f(x: int = 3) -> str:\n    return f\"{x!r:>10}\"  # done\n", "SELECT * FROM t WHERE id IN (1, 22, 333);\n",
    "<div class=\"a b\">&nbsp;</div>\n", "let x = vec![0u8; 1 << 20];\n\n", "a->b::c<d>(e)...;", "/* ---- */\n//====\n", "\t\t\t\t", "#include <stdio.h>\n",
    "x_1 = y2**3 // 4 % 5\n", "$HOME/.cache/x-y_z.tar.gz", "0xDEADBEEF 1e-5 3.14159 1_000_000", "@@ -1,7 +1,9 @@\n", "camelCaseWord SNAKE_CASE kebab-case",
    # JSON
    "{\"a\": [1, 2.5, -3e10, true, null], \"é\": \"\\u00e9\\n\"}\n", "[[],{},[{}]]", "{\n  \"key\": \"value\",\n  \"n\": 12345678901234567890\n}\n",
    # prose and contractions
    "The quick brown fox doesn't jump; it's what they'll've said. ", "I'M SURE WE'RE 'RE 'Ll don't. ", "naïve café, Straße, ŒUVRE, İstanbul, ǅungla. ",
    "Tom\u2019s \u201cquotes\u201d \u2014 and\u2026 ", "'tis 's't 'd", "I'd we'd've they'm you're he'll it's ", "X'D'M'RE", "e\u0301a\u0308 A\u030a \u1e9b\u0323 ", "the the the ", "supercalifragilisticexpialidocious ",
    # scripts
    "今天天气很好，我们去公园吧。", "日本語のテキスト、カタカナ。", "안녕하세요 세계! 각", "مرحبا بالعالم، كيف حالك؟ ", "שלום עולם ", "Привет, мир! ", "Γειά σου Κόσμε ",
    "नमस्ते दुनिया ", "สวัสดีชาวโลก", "ភាសាខ្មែរ ", "𝐀𝐁𝐂 𠀀𠀁 ", "ⅷ ½ ² ③ ٣٤ ९ 𝟘 ", "ﬁ ﬀ Å Å ﬄ ",
    # emoji
    "👍🏽", "👨\u200d👩\u200d👧\u200d👦", "🏳️\u200d🌈 ", "🇩🇪🇫🇷", "☺️ ♥ ", "1️⃣2️⃣",
    # digits of one to nine places
    "1", "12", "123", "1234", "12345", "123456", "1234567", "12345678", "123456789", " 7", "3.1.4", "2026-11-30T10:35:00Z ",
    # white space
    "\r\n", "\n", "\n\n", "\n \n", " \n", "\r", "\t", " ", "  ", "   ", " " * 40, "\t \t", "\u2028", "\u2029", "\u00a0", "\u00a0\u00a0x", "\u3000", "\u2003\u2003",
    "\u0085", "\v\f", "\u200b", "\ufeff", "\u1680", "a\u2028b", " \u2029 ", "\r\n\r\n  ", "word\u00a0word ",
    # runs of symbols
    "!!!???", "......", "-----", "=====", "++--**//", "((([[[{{{", "}}}]]])))", "~`@#$%^&*", "<|>", "\"'\"'", "\\\\\\n", "\u0301\u0302", "\x00\x01\x7f", "\U000e0001", "€£¥ ", "→⇒∀∃ ",
]
parts, size = 256, 8192


def corpus():
    """Each part is pieces in an order that a linear congruential generator gives, up to size bytes or more."""
    x, mask = 1, (1 << 64) - 1
    for _ in range(parts):
        text, length = [], 0
        while length < size:
            x = (x * 6364136223846793005 + 1442695040888963407) & mask
            piece = pieces[(x >> 33) % len(pieces)]
            text.append(piece)
            length += len(piece.encode())
        yield "".join(text)


def bpe(tokens, merges):
    vocab = {}
    for i, token in enumerate(tokens):
        vocab.setdefault(token, i)
    def halves(line):
        cut = line.index(" ", 1)
        return line[:cut], line[cut + 1:]
    return Tokenizer(models.BPE(vocab=vocab, merges=[halves(m) for m in merges], fuse_unk=False))


def gpt2(t):
    t.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    return t


def smollm(t):
    t.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)])
    return t


def qwen2(t):
    t.normalizer = normalizers.NFC()
    words = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    t.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex(words), "isolated"), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    return t


def tiny(name):
    v = json.load(gzip.open(here / (name + ".json.gz")))
    return bpe(v["tokens"], v["merges"])


def real(path):
    fields = gguf.GGUFReader(path).fields
    return bpe(fields["tokenizer.ggml.tokens"].contents(), fields["tokenizer.ggml.merges"].contents())


def hashes(t, prefix=8):
    def one(text):
        ids = t.encode(text, add_special_tokens=False).ids
        return hashlib.sha256(struct.pack(f"<{len(ids)}I", *ids)).hexdigest()[:16]
    return [one(text) for text in corpus()]


whole = hashlib.sha256("".join(corpus()).encode()).hexdigest()
out = {"pieces": pieces, "parts": parts, "size": size, "sha256": whole, "ids": {
    "tiny_gpt2": hashes(gpt2(tiny("tiny_gpt2"))), "tiny_qwen2": hashes(qwen2(tiny("tiny_qwen2"))), "smollm2": hashes(smollm(real(sys.argv[1])))}}
# Each family's rule on the same vocabulary too: a rule that is not the model's own must show.
for rule in (gpt2, smollm, qwen2):
    out["ids"]["tiny_gpt2 by " + rule.__name__] = hashes(rule(tiny("tiny_gpt2")))
with open(here / "corpus.json.gz", "wb") as f, gzip.GzipFile(fileobj=f, mode="wb", filename="", mtime=0) as z:
    z.write(json.dumps(out, ensure_ascii=False).encode())
print(sum(len(p.encode()) for p in corpus()), "bytes, tokenizers", tokenizers.__version__)
