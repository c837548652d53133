import { describe, expect, it } from 'vitest'
import { passProtobuf, readPass, readSample } from '../../model/tinker/protobuf.ts'
import { datumOf, lossOf } from './pass.ts'
import { readPassBody } from './read-protobuf.ts'
import { writePass, writeSample } from './write-protobuf.ts'

/*
 * The other half of each message is the client's, which recorded vectors of the official SDK pin; the SDK itself reads and
 * writes them in test/trainer-sdk.test.ts.
 */

const datum = {
  input: [1, 2, 300_000],
  target: [2, 300_000, 4],
  floats: { logprobs: [0, -0.5, -1], advantages: [0, 1, -2] },
}
const body = { modelId: 'm', seqId: 3, data: [datum, datum], loss: 'ppo', config: { clip_low_threshold: 0.7 } } as const

describe('the body of a pass', () => {
  it.each([false, true])('is read as it was written (forward only: %s)', (forwardOnly) => {
    const read = readPassBody(passProtobuf({ ...body, forwardOnly }))
    expect(read).toMatchObject({ modelId: 'm', seqId: 3, forwardOnly, loss: 'ppo', config: body.config })
    const { input, target, floats } = datum
    expect(read.data.map(datumOf)).toEqual([
      { input, target, ...floats },
      { input, target, ...floats },
    ])
    expect(lossOf(read.loss, read.config)).toEqual({ kind: 'ppo', clipLow: 0.7, clipHigh: 1.2 })
  })

  it('is refused when it is cut off, or holds something else', () => {
    const bytes = passProtobuf({ ...body, forwardOnly: false })
    for (const wrong of [bytes.subarray(0, bytes.length - 3), Uint8Array.of(255, 255, 255, 7)]) {
      expect(() => readPassBody(wrong)).toThrow(expect.objectContaining({ code: 'trainer/not-protobuf', status: 400 }))
    }
  })
})

describe('results', () => {
  it('of a pass are read by the client as they are', () => {
    const logprobs = [[-0.5, -1.25], [], [-3]]
    const bytes = writePass({ kind: 'pass', logprobs, losses: [[0.5, 1.25], [], [3]], metrics: { 'loss:sum': 4.75 } })
    expect(readPass(bytes).logprobs.map((one) => Array.from(one))).toEqual(logprobs)
  })

  it('of a sample are read by the client as they are', () => {
    const sequences = [
      { tokens: [5, 6], logprobs: [-0.5, -0.25], stopReason: 'stop' as const },
      { tokens: [7], logprobs: [-2], stopReason: 'length' as const },
    ]
    const read = readSample(writeSample({ kind: 'sample', sequences, promptLogprobs: [null, -1] })).sequences
    expect(
      read.map(({ tokens, logprobs, stopReason }) => [Array.from(tokens), Array.from(logprobs), stopReason]),
    ).toEqual(sequences.map(({ tokens, logprobs, stopReason }) => [tokens, logprobs, stopReason]))
  })
})
