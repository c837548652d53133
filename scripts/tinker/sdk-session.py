"""A whole session of the official Tinker SDK against a server, for test/trainer-sdk.test.ts: prints one JSON object a line.

    python sdk-session.py URL BASE_MODEL [PART …]
"""

import json
import sys

import numpy as np
import tinker
from tinker import types

url, base = sys.argv[1], sys.argv[2]
parts = sys.argv[3:]
prompt = [40, 41, 42, 43, 44, 45]
answer = [50, 51, 52, 53, 54, 55]


def tell(name, **what):
    print(json.dumps({"name": name, **what}), flush=True)


def datum(tokens, **floats):
    inputs = {name: types.TensorData(data=list(values), dtype="float32", shape=[len(values)]) for name, values in floats.items()}
    inputs["target_tokens"] = types.TensorData(data=tokens[1:], dtype="int64", shape=[len(tokens) - 1])
    return types.Datum(model_input=types.ModelInput.from_ints(tokens[:-1]), loss_fn_inputs=inputs)


def lesson():
    tokens = prompt + answer
    return datum(tokens, weights=[0.0] * (len(prompt) - 1) + [1.0] * len(answer))


def mean_loss(result):
    return float(sum(np.sum(one["elementwise_loss"].to_numpy()) for one in result.loss_fn_outputs)) / len(answer)


def agrees(result):
    """The metric is the sum of what is told token by token."""
    return abs(result.metrics["loss:sum"] / len(answer) - mean_loss(result)) < 1e-3


def sft(training, steps, rate=0.002):
    losses = []
    for _ in range(steps):
        passed = training.forward_backward([lesson(), lesson()], "cross_entropy")
        stepped = training.optim_step(types.AdamParams(learning_rate=rate))
        losses.append(mean_loss(passed.result()) / 2)
        stepped.result()
    return losses


def sample(client, n=8, **params):
    given = {"max_tokens": 6, "temperature": 1.0, "seed": 7, **params}
    return client.sample(types.ModelInput.from_ints(prompt), n, types.SamplingParams(**given)).result().sequences


def policy(training, loss, steps):
    """The share of even tokens is the reward."""
    rewards = []
    for step in range(steps):
        client = training.save_weights_and_get_sampling_client().result()
        drawn = sample(client, n=32, seed=100 * step)
        scores = [sum(token % 2 == 0 for token in one.tokens) / len(one.tokens) for one in drawn]
        mean = sum(scores) / len(scores)
        rewards.append(mean)
        zeros = [0.0] * (len(prompt) - 1)
        data = [
            datum(prompt + list(one.tokens), logprobs=zeros + list(one.logprobs),
                  advantages=zeros + [(score - mean) / len(drawn)] * len(one.tokens))
            for one, score in zip(drawn, scores)
        ]
        passed = training.forward_backward(data, loss)
        training.optim_step(types.AdamParams(learning_rate=0.00003)).result()
        told = passed.result().loss_fn_outputs
        differences = [
            abs(float(a) - float(b))
            for one, output in zip(drawn, told)
            for a, b in zip(one.logprobs, output["logprobs"].to_numpy()[len(prompt) - 1 :])
            if b != 0
        ]
        tell("agreement", loss=loss, worst=max(differences, default=None))
    return rewards


def refused(name, work):
    try:
        work()
        tell("refused", what=name, error=None)
    except Exception as error:  # every refusal is looked at by the test
        tell("refused", what=name, error=f"{type(error).__name__}: {error}"[:600])


service = tinker.ServiceClient(base_url=url, api_key="tml-local")

if "whole" in parts:
    tell("capabilities", models=[one.model_name for one in service.get_server_capabilities().supported_models])
    training = service.create_lora_training_client(base_model=base, rank=8, seed=1).result()
    info = training.get_info()
    tell("info", model=info.model_data.model_name, rank=info.lora_rank)
    tell("sft", losses=sft(training, 40))
    client = training.save_weights_and_get_sampling_client().result()
    tell("metric", agrees=agrees(training.forward_backward([lesson()], "cross_entropy").result()))
    # The gradient of the pass above waits for its step, and is no part of this.
    tell("pending", path=training.save_state("pending").result().path, model=training.model_id)
    training.optim_step(types.AdamParams(learning_rate=0.0)).result()
    greedy = sample(client, n=1, temperature=0.0)[0]
    tell("greedy", tokens=list(greedy.tokens), expected=answer)
    stopped = sample(client, n=1, temperature=0.0, stop=[answer[2]])[0]
    tell("stopped", tokens=list(stopped.tokens), reason=stopped.stop_reason)
    tell("seeded", same=[list(a.tokens) == list(b.tokens) for a, b in zip(sample(client), sample(client))], count=len(sample(client)))
    scores = client.compute_logprobs(types.ModelInput.from_ints(prompt + answer)).result()
    measured = training.forward([lesson()], "cross_entropy").result().loss_fn_outputs[0]["logprobs"].to_numpy()
    tell("prompt-logprobs", first=scores[0], worst=max(abs(a - float(b)) for a, b in zip(scores[1:], measured)))

    saved = training.save_state("state").result().path
    exported = training.save_weights_for_sampler("export").result().path
    onwards = sft(training, 3)
    resumed = service.create_training_client_from_state_with_optimizer(saved).result()
    tell("resumed", path=saved, expected=onwards, found=sft(resumed, 3))
    from_path = service.create_sampling_client(model_path=exported).result()
    tell("exported", tokens=list(sample(from_path, n=1, temperature=0.0)[0].tokens), expected=list(greedy.tokens))
    rest = tinker.RestClient(base_url=url, api_key="tml-local")
    listed = rest.list_checkpoints(training.model_id).result().checkpoints
    tell("listed", paths=[one.tinker_path for one in listed], types=[one.checkpoint_type for one in listed])
    rest.delete_checkpoint_from_tinker_path(exported).result()
    tell("deleted", left=[one.tinker_path for one in rest.list_checkpoints(training.model_id).result().checkpoints])

    refused("loss", lambda: training.forward_backward([lesson()], "dro").result())
    refused("token", lambda: training.forward_backward([datum([1, 99999, 2])], "cross_entropy").result())
    refused("shape", lambda: training.forward_backward([datum([1, 2, 3], weights=[1.0])], "cross_entropy").result())
    refused("nan", lambda: training.forward_backward([datum([1, 2, 3], logprobs=[0.0, 0.0], advantages=[1.0, float("nan")])], "ppo").result())
    refused("path", lambda: training.load_state("tinker://somebody:train:0/weights/theirs").result())
    tell("unchanged", found=mean_loss(training.forward([lesson()], "cross_entropy").result()),
         expected=mean_loss(resumed.forward([lesson()], "cross_entropy").result()))

for loss in ("importance_sampling", "ppo", "cispo"):
    if loss in parts:
        training = service.create_lora_training_client(base_model=base, rank=8, seed=2).result()
        tell("policy", loss=loss, rewards=policy(training, loss, 8))

if "steady" in parts:
    # One loss a line, for a server that is killed and started again meanwhile.
    training = service.create_lora_training_client(base_model=base, rank=8, seed=3).result()
    for step in range(int(parts[parts.index("steady") + 1])):
        tell("step", step=step, loss=sft(training, 1, rate=0.002)[0])

tell("end")
