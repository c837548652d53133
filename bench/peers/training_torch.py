"""The peer of bench/training.mjs: the same Llama, loss, LoRA and AdamW in PyTorch.

Argument: the case, as JSON. Each line in: {"step": true}, one training step (forward, backward, clip, AdamW), or {"matmul":
n}, products of two n × n matrices for a second. Each line out: {"seconds": s}, or {"gflops": the best of them}.
"""

import json
import sys
import time

import torch
import torch.nn.functional as F

case = json.loads(sys.argv[1])
c, kind = case["config"], case["kind"]
torch.set_num_threads(case["threads"])
torch.manual_seed(1)
batch, length, actions = case["sequences"], case["length"], case["actions"]
hidden, inner, vocab = c["hiddenSize"], c["intermediateSize"], c["vocabSize"]
heads, kv, dim = c["heads"], c["kvHeads"], c["headDim"]
sizes = dict(q=(heads * dim, hidden), k=(kv * dim, hidden), v=(kv * dim, hidden), o=(hidden, heads * dim),
             gate=(inner, hidden), up=(inner, hidden), down=(hidden, inner))  # fmt: skip


def weight(*shape, trained=kind == "full"):
    return torch.nn.Parameter(torch.randn(*shape) * 0.02, requires_grad=trained)


def norm():
    return torch.nn.Parameter(torch.ones(hidden), requires_grad=kind == "full")


embedding, final = weight(vocab, hidden), norm()
layers = [{**{k: weight(*s) for k, s in sizes.items()}, "n1": norm(), "n2": norm()} for _ in range(c["layers"])]
pairs = [
    {k: (weight(case["rank"], i, trained=True), weight(o, case["rank"], trained=True)) for k, (o, i) in sizes.items()}
    for _ in range(c["layers"])
]
if kind == "full":
    trained = [embedding, final] + [p for layer in layers for p in layer.values()]
else:
    trained = [p for layer in pairs for pair in layer.values() for p in pair]
optimizer = torch.optim.AdamW(trained, lr=1e-4, betas=(0.9, 0.95))

angle = torch.arange(length)[:, None] * c["ropeTheta"] ** (-torch.arange(0, dim, 2) / dim)
cos, sin = angle.cos().repeat(1, 2), angle.sin().repeat(1, 2)


def rotate(x):
    half = dim // 2
    return x * cos + torch.cat([-x[..., half:], x[..., :half]], -1) * sin


def linear(x, layer, name):
    y = F.linear(x, layers[layer][name])
    if kind == "full":
        return y
    a, b = pairs[layer][name]
    return y + 2.0 * F.linear(F.linear(x, a), b)


def loss(tokens, targets, old, advantages):
    x = F.embedding(tokens, embedding)
    split = lambda y, n: y.view(batch, length, n, dim).transpose(1, 2)
    for layer in range(c["layers"]):
        n = F.rms_norm(x, (hidden,), layers[layer]["n1"], 1e-5)
        q, k, v = (split(linear(n, layer, name), count) for name, count in (("q", heads), ("k", kv), ("v", kv)))
        o = F.scaled_dot_product_attention(rotate(q), rotate(k), v, is_causal=True, enable_gqa=True)
        x = x + linear(o.transpose(1, 2).reshape(batch, length, heads * dim), layer, "o")
        n = F.rms_norm(x, (hidden,), layers[layer]["n2"], 1e-5)
        x = x + linear(F.silu(linear(n, layer, "gate")) * linear(n, layer, "up"), layer, "down")
    # Only the positions with a loss reach the head, as a careful PyTorch program would do it.
    x = F.rms_norm(x[:, -actions:], (hidden,), final, 1e-5)
    logprobs = F.log_softmax(F.linear(x, embedding) / 0.8, -1).gather(-1, targets[..., None])[..., 0]
    ratio = (logprobs - old).exp()
    return -torch.minimum(ratio * advantages, ratio.clamp(0.8, 1.2) * advantages).sum()


if case["compile"]:
    loss = torch.compile(loss)
tokens = torch.randint(0, vocab, (batch, length))
targets = torch.randint(0, vocab, (batch, actions))
old, advantages = torch.full((batch, actions), -8.7), torch.ones(batch, actions)


def step():
    optimizer.zero_grad()
    loss(tokens, targets, old, advantages).backward()
    torch.nn.utils.clip_grad_norm_(trained, 1.0)
    optimizer.step()


def matmul(size):
    left, right = torch.randn(size, size), torch.randn(size, size)
    best, until = 0.0, time.perf_counter() + 1
    while (begin := time.perf_counter()) < until:
        left @ right
        best = max(best, 2 * size**3 / (time.perf_counter() - begin) / 1e9)
    return best


print(json.dumps({"name": f"PyTorch {torch.__version__} {'compile' if case['compile'] else 'eager'}"}), flush=True)
for line in sys.stdin:
    request = json.loads(line)
    if "matmul" in request:
        print(json.dumps({"gflops": matmul(request["matmul"])}), flush=True)
        continue
    begin = time.perf_counter()
    step()
    print(json.dumps({"seconds": time.perf_counter() - begin}), flush=True)
