"""Records what transformers computes on 24 prompts with a model folder or a GGUF file, in float32, for scripts/compare-prompts.mjs:
`python prompts.py MODEL > FILE`.

Needs `pip install torch transformers safetensors gguf`. Of each prompt: its tokens, the log-probability of each next one, and at
the last position every 499th log-probability of the vocabulary, the most likely token and its log-probability.
"""

import json
import pathlib
import sys

import torch
import transformers

PROMPTS = [
    "The capital of France is",
    "Once upon a time, in a village by the sea, there lived",
    "def fibonacci(n):\n    if n < 2:\n        return n\n    return",
    "Q: What is 17 plus 25?\nA:",
    "SELECT name, price FROM orders WHERE",
    "The quick brown fox jumps over the lazy dog. The lazy dog",
    "Dear customer,\n\nthank you for your order of 12 November. Unfortunately,",
    "1, 1, 2, 3, 5, 8, 13,",
    "Water boils at 100 degrees Celsius, and freezes at",
    '{"tool": "search", "arguments": {"query": "',
    "La capitale de l'Italie est",
    "Der schnellste Weg von Hamburg nach München ist",
    "日本の首都は",
    "Столица России —",
    "naïve café, résumé, Zoë:",
    "🙂🙃😉 The emoji above mean",
    "<html><head><title>Orders</title></head><body>",
    "In 1969, Neil Armstrong became the first human to",
    "The opposite of hot is cold. The opposite of up is",
    "    \n\n\t  indented",
    "Photosynthesis is the process by which plants",
    "To be, or not to be, that is the",
    "$ git commit -m \"Fix the",
    "a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a",
]  # fmt: skip
STRIDE = 499

path = pathlib.Path(sys.argv[1])
folder, kind = (path.parent, dict(gguf_file=path.name)) if path.suffix == ".gguf" else (path, {})
tokenizer = transformers.AutoTokenizer.from_pretrained(folder, **kind)
model = transformers.AutoModelForCausalLM.from_pretrained(
    folder, dtype=torch.float32, attn_implementation="eager", **kind
).eval()


def recorded(prompt):
    tokens = tokenizer(prompt, add_special_tokens=False).input_ids
    with torch.no_grad():
        logprobs = model(torch.tensor([tokens])).logits[0].log_softmax(-1)
    last = logprobs[-1]
    short = lambda value: float(f"{value:.7g}")
    return dict(
        tokens=tokens,
        targets=[short(logprobs[i, tokens[i + 1]].item()) for i in range(len(tokens) - 1)],
        last=[short(value) for value in last[::STRIDE].tolist()],
        top=[last.argmax().item(), short(last.max().item())],
    )


json.dump(
    dict(model=path.name, transformers=transformers.__version__, stride=STRIDE, prompts=[recorded(one) for one in PROMPTS]),
    sys.stdout,
)  # fmt: skip
