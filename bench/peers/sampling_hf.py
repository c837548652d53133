"""Hugging Face generate as a peer of bench/sampling.mjs, which starts this and speaks JSON lines with it.

Arguments: a model folder, the number of threads. Each line in: {"episodes": [{"prompt": [token], "turns": [{"sample": n,
"observe": [token]}]}], "greedy": bool}. Each line out: {"seconds": s, "cpuSeconds": s, "sampled": [[[token]]]}, for every
episode and turn. All episodes take a turn together, in one call; prompts of different lengths are padded on the left, and
a call runs to the longest of its turns.
"""

import json
import sys
import time

import torch
import transformers

folder, threads = sys.argv[1], int(sys.argv[2])
torch.set_num_threads(threads)
model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
# Every side samples as many tokens as it is asked for, whatever they are.
model.generation_config.eos_token_id = None
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
            pad_token_id=0,
            **choice,
        )
    return output[:, width:].tolist()


def play(episodes: list[dict], greedy: bool) -> list[list[list[int]]]:
    histories = [episode["prompt"] for episode in episodes]
    sampled: list[list[list[int]]] = [[] for _ in episodes]
    for turn in range(len(episodes[0]["turns"])):
        turns = [episode["turns"][turn] for episode in episodes]
        continued = generate(histories, max(one["sample"] for one in turns), greedy)
        for index, one in enumerate(turns):
            action = continued[index][: one["sample"]]
            sampled[index].append(action)
            histories[index] = histories[index] + action + one["observe"]
    return sampled


name = f"Hugging Face generate (transformers {transformers.__version__}, PyTorch {torch.__version__}, float32)"
print(json.dumps({"name": name}), flush=True)
for line in sys.stdin:
    request = json.loads(line)
    begin, cpu = time.perf_counter(), time.process_time()
    sampled = play(request["episodes"], request["greedy"])
    seconds, cpu = time.perf_counter() - begin, time.process_time() - cpu
    print(json.dumps({"seconds": seconds, "cpuSeconds": cpu, "sampled": sampled}), flush=True)
