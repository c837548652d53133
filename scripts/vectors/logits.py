"""Records what transformers computes with a model folder, for scripts/compare-logits.mjs: `python logits.py FOLDER > FILE`.

FOLDER may be a GGUF file. Needs `pip install torch transformers safetensors gguf`. Weights are read as float32. The text is longer than a window of 512
tokens. Of each position: the target's log-probability, and every 97th token's. Of the tokenizer: the text's ids.
"""

import json
import pathlib
import sys

import torch
import transformers

TEXT = "The lighthouse keeper wrote: na\u00efve caf\u00e9s, \u6c5f\u5357\u6625, 3.14159 \U0001f600\n\tdef f(x):\n    return x ** 2\n"
MOST, STRIDE = 640, 97

path = pathlib.Path(sys.argv[1])
folder, kind = (path.parent, dict(gguf_file=path.name)) if path.suffix == ".gguf" else (path, {})
tokenizer = transformers.AutoTokenizer.from_pretrained(folder, **kind)
model = transformers.AutoModelForCausalLM.from_pretrained(
    folder, dtype=torch.float32, attn_implementation="eager", **kind
).eval()
ids = tokenizer(TEXT * 24, add_special_tokens=False).input_ids
tokens = ids[:MOST]
with torch.no_grad():
    logprobs = model(torch.tensor([tokens])).logits[0].log_softmax(-1)
positions = [*range(24), *range(500, min(530, len(tokens) - 1)), len(tokens) - 2]
json.dump(
    dict(
        transformers=transformers.__version__, text=TEXT, ids=tokenizer(TEXT, add_special_tokens=False).input_ids,
        tokens=tokens, stride=STRIDE,
        targets=[logprobs[i, tokens[i + 1]].item() for i in range(len(tokens) - 1)],
        rows={i: logprobs[i, ::STRIDE].tolist() for i in positions},
    ),
    sys.stdout,
)  # fmt: skip
