"""llama.cpp as a peer of bench/sampling.mjs: the same lines of JSON as sampling_hf.py.

Arguments: a model folder, the number of threads, the file in it. As llama.cpp's own server does it: every episode is a
sequence that keeps its keys and values, one call computes what all sequences have to compute, each at its own pace, and
prompts that are equal are computed once. Keys and values are float32 for a float32 file.
"""

import json
import os
import sys
import time

import llama_cpp as llama

folder, threads, file = sys.argv[1], int(sys.argv[2]), sys.argv[3]
f32 = "f32" in file
keep_quiet = llama.llama_log_callback(lambda level, text, data: None)
llama.llama_log_set(keep_quiet, None)
llama.llama_backend_init()
model_params = llama.llama_model_default_params()
model_params.n_gpu_layers = 0
model = llama.llama_model_load_from_file(os.path.join(folder, file).encode(), model_params)
if not model:
    sys.exit(f"llama.cpp cannot load {file}")

room = int(os.environ.get("LLAMA_ROOM", 8192))
params = llama.llama_context_default_params()
params.n_ctx, params.n_batch, params.n_ubatch, params.n_seq_max = room, 2048, 512, 64
params.n_threads = params.n_threads_batch = threads
params.kv_unified = True
if f32:
    params.type_k = params.type_v = llama.GGML_TYPE_F32
if "LLAMA_FLASH" in os.environ:
    params.flash_attn_type = int(os.environ["LLAMA_FLASH"])
context = llama.llama_init_from_model(model, params)
if not context:
    sys.exit("llama.cpp cannot make a context")
memory = llama.llama_get_memory(context)
batch = llama.llama_batch_init(params.n_batch, 0, 1)


def chain(greedy: bool):
    made = llama.llama_sampler_chain_init(llama.llama_sampler_chain_default_params())
    if greedy:
        llama.llama_sampler_chain_add(made, llama.llama_sampler_init_greedy())
    else:
        llama.llama_sampler_chain_add(made, llama.llama_sampler_init_temp(0.8))
        llama.llama_sampler_chain_add(made, llama.llama_sampler_init_dist(1))
    return made


choices = {greedy: chain(greedy) for greedy in (False, True)}


class Sequence:
    """An episode: what it has to compute, and where it is."""

    def __init__(self, number: int, episode: dict):
        self.number, self.turns = number, episode["turns"]
        self.length, self.pending = 0, list(episode["prompt"])
        self.sampled: list[list[int]] = [[]]

    def take(self, token: int) -> None:
        self.pending = [token]
        self.sampled[-1].append(token)
        turn = self.turns[len(self.sampled) - 1]
        if len(self.sampled[-1]) == turn["sample"]:
            self.pending += turn["observe"]
            self.sampled.append([])

    @property
    def done(self) -> bool:
        return len(self.sampled) > len(self.turns)


def decode(work: list[tuple[Sequence, list[int], bool]]) -> list[tuple[Sequence, int]]:
    """Computes tokens, and tells for each sequence that wants to know where its last ones are."""
    at, wanted = 0, []
    for sequence, tokens, last in work:
        for token in tokens:
            batch.token[at], batch.pos[at] = token, sequence.length
            batch.n_seq_id[at], batch.seq_id[at][0], batch.logits[at] = 1, sequence.number, False
            sequence.length += 1
            at += 1
        if last:
            batch.logits[at - 1] = True
            wanted.append((sequence, at - 1))
    batch.n_tokens = at
    if llama.llama_decode(context, batch) != 0:
        raise RuntimeError("llama_decode failed")
    return wanted


def play(episodes: list[dict], greedy: bool) -> list[list[list[int]]]:
    llama.llama_memory_clear(memory, False)
    sequences = [Sequence(number, episode) for number, episode in enumerate(episodes)]
    first: dict[tuple, Sequence] = {}
    for sequence in sequences:
        first.setdefault(tuple(sequence.pending), sequence)
    shared = [(one, one.pending[:-1], False) for one in first.values() if len(one.pending) > 1]
    while shared:
        now, tokens = [], 0
        while shared and tokens + len(shared[0][1]) <= params.n_batch:
            now.append(shared.pop(0))
            tokens += len(now[-1][1])
        decode(now)
    for sequence in sequences:
        origin = first[tuple(sequence.pending)]
        if origin is not sequence:
            llama.llama_memory_seq_cp(memory, origin.number, sequence.number, -1, -1)
            sequence.length = origin.length
    for sequence in sequences:
        sequence.pending = sequence.pending[-1:]
    going = sequences
    while going:
        for sequence, index in decode([(one, one.pending, True) for one in going]):
            sequence.take(llama.llama_sampler_sample(choices[greedy], context, index))
        going = [one for one in going if not one.done]
    return [one.sampled[: len(one.turns)] for one in sequences]


kind = "float32" if f32 else file
name = f"llama.cpp (llama-cpp-python {llama.__version__}, {kind})"
print(json.dumps({"name": name, "system": llama.llama_print_system_info().decode()}), flush=True)
for line in sys.stdin:
    request = json.loads(line)
    begin, cpu = time.perf_counter(), time.process_time()
    sampled = play(request["episodes"], request["greedy"])
    seconds, cpu = time.perf_counter() - begin, time.process_time() - cpu
    print(json.dumps({"seconds": seconds, "cpuSeconds": cpu, "sampled": sampled}), flush=True)
