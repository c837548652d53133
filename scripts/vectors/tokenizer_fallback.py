"""Records a small tokenizer of Gemma's kind, and the ids that PyPI `tokenizers` gives, for src/model/embedded/load/tokenizer.test.ts.

    pip install tokenizers
    python scripts/vectors/tokenizer_fallback.py > src/model/embedded/load/tokenizer-fallback.vectors.json
"""

import json

import tokenizers
from tokenizers import decoders, models, normalizers, pre_tokenizers, trainers

from tokenizer import TEXTS

SPECIALS = ["<pad>", "<eos>", "<bos>", "<unk>", "<start_of_turn>", "<end_of_turn>"]
BYTES = [f"<0x{byte:02X}>" for byte in range(256)]

trained = tokenizers.Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
trained.normalizer = normalizers.Replace(" ", "\u2581")
trained.pre_tokenizer = pre_tokenizers.Split(" ", "merged_with_previous")
trained.decoder = decoders.Sequence([decoders.Replace("\u2581", " "), decoders.ByteFallback(), decoders.Fuse()])
ascii_texts = [text for text in TEXTS if text.isascii()]
trainer = trainers.BpeTrainer(vocab_size=440, special_tokens=[*SPECIALS, *BYTES], show_progress=False)
trained.train_from_iterator([*ascii_texts, "the order of the books over there"] * 4, trainer)
content = json.loads(trained.to_str())
# The bytes are entries of the vocabulary, not added ones, as Gemma has them.
content["added_tokens"] = [token for token in content["added_tokens"] if token["content"] in SPECIALS]
tokenizer = tokenizers.Tokenizer.from_str(json.dumps(content))
cases = [
    {"text": text, "ids": tokenizer.encode(text, add_special_tokens=False).ids}
    for text in [*TEXTS, "<start_of_turn>user\nthe order<end_of_turn>\n", "the\u2581order"]
]
for case in cases:
    case["decoded"] = tokenizer.decode(case["ids"], skip_special_tokens=False)
print(json.dumps({"tokenizers": tokenizers.__version__, "tokenizer": content, "cases": cases}))
