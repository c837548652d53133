"""Recipes of tinker-cookbook 0.6.1, as they are, against a Tinker server, offline: supervised learning, reinforcement
learning, preferences. Prints one JSON object for each update.

    python cookbook.py URL BASE_MODEL TOKENIZER_FOLDER LOGS RECIPE [SEED [STEPS [no-head]]]

RECIPE is `sl` (recipes/sl_loop), `rl` (recipes/rl_loop, from what `sl` saved) or `dpo` (preference/train_dpo). What is not
the recipe's is given to it: the questions (sums, made here, instead of data sets of the hub), the seed, and which renderer
and tokenizer the model has. `no-head`: the head is not trained, as SkyRL never does. For test/trainer-cookbook.test.ts and curves.mjs.
"""

import json
import os
import random
import shutil
import sys
from pathlib import Path

os.environ.setdefault("TINKER_API_KEY", "tml-local")
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TINKER_TELEMETRY", "0")

import chz
import datasets
import tinker
from transformers import PreTrainedTokenizerFast

from tinker_cookbook import model_info, tokenizer_utils
from tinker_cookbook.preference import train_dpo
from tinker_cookbook.preference.dpo_datasets import DPODatasetBuilderFromComparisons
from tinker_cookbook.preference.preference_datasets import ComparisonDatasetBuilder
from tinker_cookbook.preference.types import Comparison, LabeledComparison
from tinker_cookbook.recipes import rl_loop, sl_loop
from tinker_cookbook.supervised.types import ChatDatasetBuilderCommonConfig

url, base, folder, logs, recipe = sys.argv[1:6]
seed = int(sys.argv[6]) if len(sys.argv) > 6 else 0
steps = int(sys.argv[7]) if len(sys.argv) > 7 else 20
head = "no-head" not in sys.argv[8:]
path = Path(logs) / recipe

renderer = "role_colon"
tokenizer_utils.register_tokenizer(
    base, lambda: PreTrainedTokenizerFast(tokenizer_file=str(Path(folder) / "tokenizer.json"), eos_token="<|im_end|>")
)
model_info.get_model_attributes = lambda _: model_info.ModelAttributes("local", "1", "26M", True, (renderer,))

suffix = " Provide a numerical answer without units, written inside \\boxed{}."  # as rl_loop asks


def sums(count, name):
    """Questions with their answers in GSM8K's form."""
    rng = random.Random(f"{name} {seed}")
    pairs = [(rng.randrange(1, 9), rng.randrange(2)) for _ in range(count)]
    return [{"question": f"What is {a} plus {b}?", "answer": f"{a} + {b} = {a + b}\n#### {a + b}"} for a, b in pairs]


def demonstration(row):
    said = f"\\boxed{{{row['answer'].split('#### ')[1]}}}"
    return {"messages": [{"role": "user", "content": row["question"] + suffix}, {"role": "assistant", "content": said}]}


def rows_of(name, *_):
    rows = sums(2048, name)
    if "no_robots" in name:
        rows = [demonstration(row) for row in rows]
    return datasets.DatasetDict({"train": datasets.Dataset.from_list(rows)})


datasets.load_dataset = rows_of


def seeded(create):
    return lambda *given, **named: create(*given, **{**named, "seed": seed, "train_unembed": head})


for name in ("create_lora_training_client", "create_lora_training_client_async"):
    setattr(tinker.ServiceClient, name, seeded(getattr(tinker.ServiceClient, name)))


@chz.chz
class ShortAnswers(ComparisonDatasetBuilder):
    """A bare number is preferred to a sentence."""

    def get_train_and_test_datasets(self):
        return datasets.Dataset.from_list(sums(512, "preferences")), None

    def example_to_labeled_comparison(self, example):
        right = example["answer"].split("#### ")[1]
        says = lambda content: [{"role": "assistant", "content": content}]
        return LabeledComparison(
            comparison=Comparison(
                prompt_conversation=[{"role": "user", "content": example["question"]}],
                completion_A=says(right),
                completion_B=says(f"The answer to your question is {right}."),
            ),
            label="A",
        )


def sl():
    sl_loop.main(
        sl_loop.Config(
            base_url=url, log_path=str(path), model_name=base, batch_size=32, learning_rate=1e-3, max_length=256,
            lora_rank=8, save_every=0, max_steps=steps,
        )
    )


def rl():
    # It begins where `sl` ended: a recipe goes on from the last checkpoint that its log names.
    path.mkdir(parents=True)
    last = json.loads((Path(logs) / "sl" / "checkpoints.jsonl").read_text().splitlines()[-1])
    (path / "checkpoints.jsonl").write_text(json.dumps({**last, "batch": 0}) + "\n")
    rl_loop.main(
        rl_loop.Config(
            base_url=url, log_path=str(path), model_name=base, batch_size=16, group_size=8, learning_rate=3e-4,
            lora_rank=8, save_every=0, max_tokens=12, loss_fn="importance_sampling", max_steps=steps,
        )
    )


def dpo():
    common = ChatDatasetBuilderCommonConfig(
        model_name_for_tokenizer=base, renderer_name=renderer, max_length=256, batch_size=16
    )
    train_dpo.main(
        train_dpo.Config(
            base_url=url, log_path=str(path), model_name=base, recipe_name="dpo", renderer_name=renderer,
            dataset_builder=DPODatasetBuilderFromComparisons(common_config=common, comparison_builder=ShortAnswers()),
            learning_rate=2e-5, lora_rank=8, save_every=0, eval_every=0, infrequent_eval_every=0, max_steps=steps,
        )
    )


shutil.rmtree(path, ignore_errors=True)
{"sl": sl, "rl": rl, "dpo": dpo}[recipe]()
for line in (path / "metrics.jsonl").read_text().splitlines():
    print(line, flush=True)
