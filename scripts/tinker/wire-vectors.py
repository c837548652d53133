"""Vectors of the protobuf wire, from the official SDK's own conversions: `python wire-vectors.py > src/model/tinker/protobuf.vectors.json`.

Needs `tinker` (0.25.0 made the recorded ones). The request is decoded here from what our client writes, by the test; the
answers are encoded here, and decoded by our client.
"""

import json
from importlib.metadata import version

import numpy as np
from tinker import types
from tinker.proto import tinker_public_pb2 as pb
from tinker.proto.request_conv import forward_backward_request_to_proto


def tensor(data, dtype):
    return types.TensorData(data=data, dtype=dtype, shape=[len(data)])


def request():
    data = [
        types.Datum(
            model_input=types.ModelInput(chunks=[types.EncodedTextChunk(tokens=[1, 2, 70000])]),
            loss_fn_inputs={
                "target_tokens": tensor([2, 70000, 3], "int64"),
                "logprobs": tensor([0.0, -1.25, -0.5], "float32"),
                "advantages": tensor([0.0, 0.75, -0.75], "float32"),
            },
        )
    ]
    body = types.ForwardBackwardInput(
        data=data, loss_fn="cispo", loss_fn_config={"clip_low_threshold": 0.8, "clip_high_threshold": 1.25}
    )
    return forward_backward_request_to_proto(
        types.ForwardBackwardRequest(forward_backward_input=body, model_id="model_1", seq_id=300)
    )


def batched(rows, dtype, kind):
    arrays = [np.asarray(row, dtype=dtype) for row in rows]
    offsets = np.concatenate([[0], np.cumsum([a.nbytes for a in arrays])]).astype(np.int64)
    return pb.BatchedTensor(data=b"".join(a.tobytes() for a in arrays), offsets=offsets.tobytes(), dtype=kind)


def output():
    message = pb.ForwardBackwardOutput(loss_fn_output_type="scalar")
    message.metrics["loss:sum"] = 1.5
    record = message.loss_fn_outputs.add(num_datums=2)
    record.fields["elementwise_loss"].CopyFrom(batched([[9, 9, 9], [9]], np.float32, pb.DTYPE_FLOAT32))
    record.fields["logprobs"].CopyFrom(batched([[-0.5, -1.5, -2.5], [-3]], np.float32, pb.DTYPE_FLOAT32))
    half = message.loss_fn_outputs.add(num_datums=1)
    upper = (np.asarray([-0.5, -2], dtype=np.float32).view(np.uint32) >> 16).astype(np.uint16)
    half.fields["logprobs"].CopyFrom(batched([upper], np.uint16, pb.DTYPE_BFLOAT16))
    return message


def sample():
    message = pb.SampleResponse(prompt_logprobs=np.asarray([np.nan, -1], dtype=np.float32).tobytes())
    for stop, tokens, logprobs in [(pb.STOP_REASON_STOP, [5, 70000], [-0.25, -4]), (pb.STOP_REASON_LENGTH, [], [])]:
        message.sequences.add(
            stop_reason=stop,
            tokens=np.asarray(tokens, dtype=np.int32).tobytes(),
            logprobs=np.asarray(logprobs, dtype=np.float32).tobytes(),
        )
    return message


def main():
    encoded = {name: make().SerializeToString(deterministic=True).hex() for name, make in [("request", request), ("output", output), ("sample", sample)]}
    print(json.dumps({"tinker": version("tinker"), **encoded}, indent=2))


if __name__ == "__main__":
    main()
