"""TRL's GRPOTrainer as the peer of bench/grpo.mjs, which starts this and speaks JSON lines with it.

Argument: a file with the case as JSON. Each line in is one step: sample, score, train. Each line out: {"seconds": s,
"cpuSeconds": s, "sampling": s, "sampledTokens": n, "promptTokens": n}. What the trainer's defaults would do beyond the work of ours is
off: bfloat16, gradient checkpointing, logs. All attempts of a step are sampled in one call, so that its batch is largest.
"""

import json
import os
import re
import sys
import tempfile
import time

out, sys.stdout = sys.stdout, sys.stderr

import peft
import torch
import transformers
import trl
from datasets import Dataset

with open(sys.argv[1]) as file:
    case = json.load(file)
torch.set_num_threads(case["threads"])
rows = case["tasks"]
total = case["perStep"] * case["attempts"]


def words(text: str) -> list[str]:
    return re.findall(r"[a-z0-9.]+", text.lower())


def reward(completions: list[str], document: list[str], accepted: list[list[str]], **_) -> list[float]:
    scores = []
    for answer, shown, texts in zip(completions, document, accepted, strict=True):
        known, said = set(words(shown)), words(answer)
        share = sum(word in known for word in said) / max(1, len(said))
        scores.append(share + any(text.lower() in answer.lower() for text in texts))
    return scores


tokenizer = transformers.AutoTokenizer.from_pretrained(case["folder"], padding_side="left")
if tokenizer.pad_token is None:
    tokenizer.pad_token = tokenizer.eos_token
for row in rows:
    if tokenizer(row["text"])["input_ids"] != row["prompt"]:
        sys.exit("the tokenizers disagree about a prompt")

told: list[tuple[float, float]] = []
sampling = 0.0
counts = {"sampledTokens": 0, "promptTokens": 0}


class Turns(transformers.TrainerCallback):
    """A step begins when it is told to."""

    def on_step_begin(self, args, state, control, **_):
        global sampling
        if not sys.stdin.readline():
            control.should_training_stop = True
            os._exit(0)
        sampling = 0.0
        told.append((time.perf_counter(), time.process_time()))

    def on_step_end(self, args, state, control, **_):
        seconds, cpu = time.perf_counter() - told[-1][0], time.process_time() - told[-1][1]
        answer = {"seconds": seconds, "cpuSeconds": cpu, "sampling": sampling, **counts}
        print(json.dumps(answer), file=out, flush=True)


class Trainer(trl.GRPOTrainer):
    def _generate_single_turn(self, prompt_ids, *rest, **more):
        global sampling
        begin = time.perf_counter()
        result = super()._generate_single_turn(prompt_ids, *rest, **more)
        sampling += time.perf_counter() - begin
        counts["promptTokens"] = sum(map(len, prompt_ids))
        counts["sampledTokens"] = sum(map(len, result[0]))
        return result


modules = {"q": "q_proj", "k": "k_proj", "v": "v_proj", "o": "o_proj", "gate": "gate_proj", "up": "up_proj", "down": "down_proj"}
with tempfile.TemporaryDirectory() as folder:
    trainer = Trainer(
        model=transformers.AutoModelForCausalLM.from_pretrained(case["folder"], dtype=torch.float32),
        reward_funcs=reward,
        processing_class=tokenizer,
        train_dataset=Dataset.from_list(
            [{"prompt": row["text"], "document": row["document"], "accepted": row["accepted"]} for row in rows]
        ),
        peft_config=peft.LoraConfig(
            r=case["rank"], lora_alpha=case["alpha"], target_modules=[modules[name] for name in case["targets"]]
        ),
        callbacks=[Turns()],
        args=trl.GRPOConfig(
            output_dir=folder,
            per_device_train_batch_size=case["micro"],
            gradient_accumulation_steps=total // case["micro"],
            num_generations=case["attempts"],
            max_completion_length=case["sample"],
            generation_kwargs={"min_new_tokens": case["sample"]},
            use_transformers_continuous_batching=case["continuous"],
            temperature=1.0,
            beta=0.0,
            learning_rate=1e-5,
            lr_scheduler_type="constant",
            adam_beta2=0.95,
            max_grad_norm=1.0,
            max_steps=len(rows) // case["perStep"],
            shuffle_dataset=False,
            use_cpu=True,
            bf16=False,
            gradient_checkpointing=False,
            dataloader_pin_memory=False,
            logging_strategy="no",
            save_strategy="no",
            report_to="none",
            disable_tqdm=True,
        ),
    )
    name = f"TRL {trl.__version__} GRPOTrainer (transformers {transformers.__version__}, PyTorch {torch.__version__})"
    print(json.dumps({"name": name}), file=out, flush=True)
    trainer.train()
