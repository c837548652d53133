import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Span } from '../core/index.ts'
import { packed, unpacked } from './packed-spans.ts'

const sample = (logprobs: number[], behaviourLogprobs: number[] | null): Span => ({
  kind: 'sampled',
  tokens: logprobs.map((_, i) => i),
  behaviourLogprobs,
  logprobs,
  sampling: { temperature: 1, truncated: false },
})
const record = (...spans: Span[]) => ({ call: 'c', nodes: [{ id: 'n', spans }] })
const written = (value: object) => JSON.stringify(packed(value as ReturnType<typeof record>))

describe('the log-probabilities of a record', () => {
  it('read back as they were, bit for bit', () => {
    const doubles = fc.array(fc.double({ noNaN: true, noDefaultInfinity: true, max: 0 }), {
      minLength: 30,
      maxLength: 70,
    })
    fc.assert(
      fc.property(doubles, fc.constantFrom('none', 'same', 'other'), (logprobs, kind) => {
        const behaviour = kind === 'none' ? null : kind === 'same' ? [...logprobs] : logprobs.map((x) => x / 3 - 1)
        const whole = record(sample(logprobs, behaviour), { kind: 'encoded', tokens: [1] })
        const read = unpacked(JSON.parse(written(whole))) as typeof whole
        // JSON itself has no negative zero; packed lists keep it.
        const plain = (value: unknown) => JSON.parse(JSON.stringify(value))
        expect(plain(read)).toEqual(plain(whole))
      }),
    )
  })

  it('are told once where the token was drawn with the same', () => {
    const logprobs = Array.from({ length: 1_000 }, (_, i) => -i / 7)
    expect(written(record(sample(logprobs, [...logprobs]))).length).toBeLessThan(16_000)
    expect(JSON.parse(written(record(sample(logprobs, [...logprobs])))).nodes[0].spans[0].behaviourLogprobs).toBe(
      'logprobs',
    )
  })

  it('stay numbers where they are few, and where JSON cannot hold them', () => {
    const few = record(sample([-1, -2], [-1, -2]))
    expect(packed(few)).toBe(few)
    const endless = record(sample(Array<number>(40).fill(Number.NEGATIVE_INFINITY), null))
    expect(packed(endless)).toEqual(endless)
  })

  it.each([null, 'text', { nodes: 3 }, { nodes: [null, { spans: [7, { logprobs: 5 }] }] }])(
    'of what is none stay what they are: %j',
    (value) => {
      expect(unpacked(structuredClone(value))).toEqual(value)
    },
  )

  it('that were damaged have another length than the tokens', () => {
    const text = written(record(sample(Array<number>(40).fill(-1), null)))
    const { logprobs } = JSON.parse(text).nodes[0].spans[0] as { logprobs: string }
    const damaged = JSON.parse(text.replace(logprobs, logprobs.slice(0, -20))) as unknown
    const { nodes } = unpacked(damaged) as ReturnType<typeof record>
    const [read] = nodes.flatMap(({ spans }) => spans)
    expect(read).toMatchObject({ logprobs: expect.any(Array) })
    expect(read?.kind === 'sampled' && read.logprobs.length < 40).toBe(true)
  })
})
