"""Records a LoRA's gradients in PyTorch with a real model, for scripts/compare-gradients.mjs: `python lora_gradients.py MODEL FOLDER`.

MODEL is a folder or a GGUF file. LoRA is written out by hand: y = Wx + (alpha / rank) B A x on every projection of attention
and MLP, with A and B drawn at random, so that both have gradients. The loss is the sum of -w * log p over three sequences. FOLDER gets
adapter.safetensors, gradients.safetensors and batch.json. Needs `pip install torch transformers safetensors gguf`.
"""

import json
import pathlib
import sys

import torch
import transformers
from safetensors.torch import save_file

RANK, ALPHA = 8, 16
TARGETS = dict(q="q_proj", k="k_proj", v="v_proj", o="o_proj", gate="gate_proj", up="up_proj", down="down_proj")
TEXTS = [
    "The order of Mrs Adler is late. It was paid on Monday, and it has been at the depot since.",
    "def total(prices):\n    return sum(prices)\n\nprint(total([3, 4, 5]))  # 12",
    "Water boils at 100 degrees, oil much later; that is why",
]

path, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
out.mkdir(parents=True, exist_ok=True)
folder, kind = (path.parent, dict(gguf_file=path.name)) if path.suffix == ".gguf" else (path, {})
tokenizer = transformers.AutoTokenizer.from_pretrained(folder, **kind)
model = transformers.AutoModelForCausalLM.from_pretrained(
    folder, dtype=torch.float32, attn_implementation="eager", **kind
).eval()
model.requires_grad_(False)


class Adapted(torch.nn.Module):
    def __init__(self, linear):
        super().__init__()
        self.linear = linear
        self.a = torch.nn.Parameter((2 * torch.rand(RANK, linear.in_features) - 1) / linear.in_features**0.5)
        self.b = torch.nn.Parameter(0.02 * torch.randn(linear.out_features, RANK))

    def forward(self, x):
        return self.linear(x) + (ALPHA / RANK) * (x @ self.a.T) @ self.b.T


torch.manual_seed(0)
pairs = {}
for name, module in list(model.named_modules()):
    if isinstance(module, torch.nn.Linear) and name.split(".")[-1] in TARGETS.values():
        parent = model.get_submodule(name.rsplit(".", 1)[0])
        pairs[name] = Adapted(module)
        setattr(parent, name.rsplit(".", 1)[1], pairs[name])

batch, loss = [], 0
for text in TEXTS:
    tokens = tokenizer(text, add_special_tokens=False).input_ids
    weights = [0.0 if i < 3 else 1.0 + (i % 3) / 2 for i in range(len(tokens) - 1)]
    logprobs = model(torch.tensor([tokens[:-1]])).logits[0].log_softmax(-1)
    picked = logprobs[range(len(tokens) - 1), tokens[1:]]
    loss = loss - (torch.tensor(weights) * picked).sum()
    batch.append(dict(input=tokens[:-1], target=tokens[1:], weights=weights))
loss.backward()

named = lambda a, b: {f"{name}.lora_{c}.weight": one for name, pair in pairs.items() for c, one in (("A", a(pair)), ("B", b(pair)))}
lora = dict(rank=RANK, alpha=ALPHA, targets=list(TARGETS))
values = {key: one.detach().contiguous() for key, one in named(lambda pair: pair.a, lambda pair: pair.b).items()}
save_file(values, out / "adapter.safetensors", metadata=dict(ratchet=json.dumps(dict(kind="adapter", lora=lora))))
save_file(named(lambda pair: pair.a.grad, lambda pair: pair.b.grad), out / "gradients.safetensors")
(out / "batch.json").write_text(json.dumps(dict(loss=loss.item(), batch=batch, lora=lora, torch=torch.__version__)))
