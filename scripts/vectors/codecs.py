"""Holds the codecs against the formats' own implementations, and records what those write.

Needs Python 3.12 with `pip install harbor verifiers` (0.24 and 0.4 when the vectors were recorded). Run from the
repository's root after `npm run build`:

    node scripts/vectors/codecs.mjs && python scripts/vectors/codecs.py

`codecs.mjs` writes what our codecs make of vectors/exported.json; this script has Harbor and verifiers read it, strictly,
and writes documents of theirs for our import tests.
"""

import json
from pathlib import Path

from harbor.models.trajectories import Agent, Metrics, Observation, ObservationResult, Step, ToolCall, Trajectory
from verifiers.v1.graph import MessageNode
from verifiers.v1.trace import ModelCall, Reward, TraceTask, WireTrace
from verifiers.v1.task import WireTaskData
from verifiers.v1.types import AssistantMessage, SystemMessage, ToolMessage, UserMessage
from verifiers.v1.types import ToolCall as VfToolCall

folder = Path(__file__).parents[2] / "src/codec/vectors"


def write(name, value):
    (folder / f"{name}.json").write_text(json.dumps(value, indent=1, ensure_ascii=False) + "\n")


for document in json.loads((folder / "atif.json").read_text()):
    read = Trajectory.model_validate(document)
    assert read.to_json_dict()["steps"] == [
        {k: v for k, v in step.items() if v is not None} for step in document["steps"]
    ], "Harbor read something else than was written"
    print("Harbor reads", read.trajectory_id, "with", len(read.steps), "steps")

trace = WireTrace.model_validate(json.loads((folder / "verifiers.json").read_text()))
exported = json.loads((folder / "exported.json").read_text())["trajectory"]
tokens = {
    node["id"]: [t for span in node["spans"] for t in span["tokens"]] for node in exported["nodes"]
}
for branch in trace.branches:
    print("verifiers reads a branch of", len(branch.nodes), "messages,", len(branch.token_ids), "tokens,",
          sum(branch.sampled_mask), "sampled; reward", trace.reward)
    assert len(branch.logprobs) == len(branch.token_ids)
assert sum(len(n.token_ids) for n in trace.nodes) == sum(len(t) for t in tokens.values())

write("atif-from-harbor", Trajectory(
    schema_version="ATIF-v1.7",
    session_id="run-1",
    agent=Agent(name="shell", version="1", model_name="m"),
    steps=[
        Step(step_id=1, source="system", message="You are a shell."),
        Step(step_id=2, source="user", message="List the files.", timestamp="2026-11-20T08:00:00Z"),
        Step(
            step_id=3, source="agent", message="I look.", timestamp="2026-11-20T08:00:01Z",
            tool_calls=[ToolCall(tool_call_id="c1", function_name="bash", arguments={"command": "ls"})],
            observation=Observation(results=[ObservationResult(source_call_id="c1", content="a.txt")]),
            metrics=Metrics(prompt_tokens=10, completion_tokens=3),
        ),
        Step(step_id=4, source="agent", message="There is a.txt.", llm_call_count=1),
    ],
).to_json_dict())

vf = WireTrace(
    id="trace-1",
    task=TraceTask(type="Ls", data=WireTaskData(id="task-1", prompt="List the files.")),
    agent={"config": {}, "name": "solver"},
    nodes=[
        MessageNode(message=SystemMessage(content="You are a shell."), token_ids=[1], mask=[False], timestamp=1.0),
        MessageNode(parent=0, message=UserMessage(content="List the files."), token_ids=[2], mask=[False], timestamp=1.0),
        MessageNode(
            parent=1, sampled=True, timestamp=2.0, token_ids=[3, 4, 5], mask=[False, True, True], logprobs=[-0.5, -0.25],
            message=AssistantMessage(content="", tool_calls=[VfToolCall(id="c1", name="bash", arguments='{"command": "ls"}')]),
        ),
        MessageNode(parent=2, message=ToolMessage(tool_call_id="c1", content="a.txt"), token_ids=[6], mask=[False], timestamp=3.0),
        MessageNode(parent=3, sampled=True, timestamp=4.0, token_ids=[7, 8], mask=[False, True], logprobs=[-1.0],
                    message=AssistantMessage(content="There is a.txt.")),
    ],
    calls=[ModelCall(node=2, model="m"), ModelCall(node=4, model="m")],
    rewards={"solved": Reward(score=1.0), "style": Reward(score=-0.5, weight=0.5)},
    metrics={"turns": 2.0},
    is_completed=True, ok=True, stop_condition="agent_completed",
)
write("verifiers-from-verifiers", vf.to_record())
