"""Hugging Face generate as a peer of bench/sampling.mjs, which starts this and speaks JSON lines with it.

    pip install torch transformers safetensors

Arguments: a model folder, the number of threads. Each line in: {"prompts": [[token]], "tokens": n, "greedy": bool}.
Each line out: {"cpuSeconds": s, "continuations": [[token]]}. Every sequence is continued by exactly n tokens; prompts of
different lengths are padded on the left.
"""

import json
import sys
import time

import torch
from transformers import AutoModelForCausalLM

folder, threads = sys.argv[1], int(sys.argv[2])
torch.set_num_threads(threads)
model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
torch.manual_seed(1)


def generate(prompts: list[list[int]], tokens: int, greedy: bool) -> list[list[int]]:
    width = max(map(len, prompts))
    padded = torch.tensor([[0] * (width - len(prompt)) + prompt for prompt in prompts])
    mask = torch.tensor([[0] * (width - len(prompt)) + [1] * len(prompt) for prompt in prompts])
    choice = {"do_sample": False} if greedy else {"do_sample": True, "temperature": 0.8, "top_k": 0, "top_p": 1.0}
    with torch.inference_mode():
        output = model.generate(
            padded,
            attention_mask=mask,
            max_new_tokens=tokens,
            min_new_tokens=tokens,
            pad_token_id=0,
            **choice,
        )
    return output[:, width:].tolist()


for line in sys.stdin:
    request = json.loads(line)
    start = time.process_time()
    continuations = generate(request["prompts"], request["tokens"], request["greedy"])
    seconds = time.process_time() - start
    print(json.dumps({"cpuSeconds": seconds, "continuations": continuations}), flush=True)
