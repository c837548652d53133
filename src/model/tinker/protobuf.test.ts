import { readFileSync } from 'node:fs'
import { PbfReader } from 'pbf'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { passProtobuf, readPass, readSample } from './protobuf.ts'

/** Made by `scripts/tinker/wire-vectors.py` with the official SDK. */
const vectors = z
  .object({ tinker: z.string(), request: z.string(), output: z.string(), sample: z.string() })
  .parse(JSON.parse(readFileSync(new URL('protobuf.vectors.json', import.meta.url), 'utf8')))
const bytesOf = (hex: string) => new Uint8Array(Buffer.from(hex, 'hex'))

/** The fields of a message, whatever their order, each as number and content. */
function fieldsOf(bytes: Uint8Array): string[] {
  const fields: string[] = []
  new PbfReader(bytes).readFields((tag, _, pbf) => {
    const from = pbf.pos
    pbf.skip(pbf.type)
    const content = bytes.subarray(from, pbf.pos)
    fields.push(`${tag}:${Buffer.from(content).toString('hex')}`)
  }, null)
  return fields.toSorted()
}

it('writes the request that the official SDK writes', () => {
  const written = passProtobuf({
    modelId: 'model_1',
    seqId: 300,
    data: [
      {
        input: [1, 2, 70_000],
        target: [2, 70_000, 3],
        floats: { logprobs: [0, -1.25, -0.5], advantages: [0, 0.75, -0.75] },
      },
    ],
    loss: 'cispo',
    config: { clip_low_threshold: 0.8, clip_high_threshold: 1.25 },
    forwardOnly: false,
  })
  const [found, expected] = [fieldsOf(written), fieldsOf(bytesOf(vectors.request))]
  const datum = (fields: string[]) => fields.filter((field) => field.startsWith('3:'))
  const rest = (fields: string[]) => fields.filter((field) => !field.startsWith('3:'))
  expect(rest(found)).toEqual(rest(expected))
  // The entries of a map come in any order: the lengths of the datum agree, and so do its own fields.
  const inner = (fields: string[]) => fieldsOf(withoutLength(bytesOf(datum(fields)[0]!.slice(2))))
  expect(inner(found)).toEqual(inner(expected))
})

function withoutLength(bytes: Uint8Array): Uint8Array {
  const pbf = new PbfReader(bytes)
  pbf.readVarint()
  return bytes.subarray(pbf.pos)
}

it('reads the answers that the official SDK reads', () => {
  const { logprobs } = readPass(bytesOf(vectors.output))
  expect(logprobs.map((one) => Array.from(one))).toEqual([[-0.5, -1.5, -2.5], [-3], [-0.5, -2]])
  const { sequences } = readSample(bytesOf(vectors.sample))
  const plain = sequences.map((one) => ({
    ...one,
    tokens: Array.from(one.tokens),
    logprobs: Array.from(one.logprobs),
  }))
  expect(plain).toEqual([
    { tokens: [5, 70_000], logprobs: [-0.25, -4], stopReason: 'stop' },
    { tokens: [], logprobs: [], stopReason: 'length' },
  ])
})

describe('whatever bytes come, it reads them or throws', () => {
  it.each([
    ['output', readPass],
    ['sample', readSample],
  ] as const)('%s, cut and changed at every byte', (name, read) => {
    const whole = bytesOf(vectors[name])
    for (let at = 0; at < whole.length; at++) {
      for (const bytes of [whole.subarray(0, at), whole.map((byte, i) => (i === at ? byte ^ 0xff : byte))]) {
        try {
          read(bytes)
        } catch (error) {
          expect(error).toBeInstanceOf(Error)
        }
      }
    }
  })
})
