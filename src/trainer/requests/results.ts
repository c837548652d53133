import type { TrainerHost } from '../host.ts'
import type { Outcome } from '../journal/events.ts'
import { FutureRef } from '../wire/bodies.ts'
import { readBody } from '../wire/read-body.ts'
import { protobufType, writePass, writeSample } from '../wire/write-protobuf.ts'

/** How long a question for a result waits for it: the official SDK gives up after 45 seconds. */
const patienceMs = 25_000

/** `retrieve_future`: the result, once it is there; before, 408 with `try_again`, and the client asks on. */
export async function retrieve(
  host: TrainerHost,
  owner: string,
  value: unknown,
  { signal, wantsProtobuf }: { readonly signal: AbortSignal; readonly wantsProtobuf: boolean },
): Promise<Response> {
  const { request_id } = readBody(FutureRef, value)
  const outcome = await host.outcome(owner, request_id, patienceMs, signal)
  if (outcome === null) return Response.json({ type: 'try_again', request_id, queue_state: 'active' }, { status: 408 })
  if (!signal.aborted) host.results.delivered(request_id)
  return answer(outcome, wantsProtobuf)
}

function answer(outcome: Outcome, wantsProtobuf: boolean): Response {
  switch (outcome.kind) {
    case 'failed':
      return Response.json({ error: outcome.message, category: outcome.category, code: outcome.code ?? null })
    case 'plain':
      return Response.json(outcome.body)
    case 'pass':
      return wantsProtobuf ? protobuf(writePass(outcome)) : Response.json(passJson(outcome))
    case 'sample':
      return wantsProtobuf ? protobuf(writeSample(outcome)) : Response.json(sampleJson(outcome))
  }
}

const protobuf = (bytes: Uint8Array): Response =>
  new Response(Buffer.from(bytes), { headers: { 'content-type': protobufType } })

const tensor = (data: readonly number[]) => ({ data, dtype: 'float32', shape: [data.length] })

const passJson = ({ logprobs, losses, metrics }: Extract<Outcome, { kind: 'pass' }>) => ({
  loss_fn_output_type: 'ArrayRecord',
  loss_fn_outputs: logprobs.map((one, i) => ({
    logprobs: tensor(one),
    ...(losses === null ? {} : { elementwise_loss: tensor(losses[i] ?? []) }),
  })),
  metrics,
})

const sampleJson = ({ sequences, promptLogprobs }: Extract<Outcome, { kind: 'sample' }>) => ({
  sequences: sequences.map(({ tokens, logprobs, stopReason }) => ({ stop_reason: stopReason, tokens, logprobs })),
  prompt_logprobs: promptLogprobs,
  topk_prompt_logprobs: null,
  type: 'sample',
})
