import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { numbers, recorded, relativeError, unpack } from '../../../../test/support/recorded.ts'
import { type PolicyLoss, type SampleTerms, slopesOf } from './index.ts'

interface Alone {
  readonly loss: string
  readonly gradient: string
}
type Recorded = PolicyLoss['kind'] | 'dual_clip'
interface Vectors {
  readonly clipLow: number
  readonly clipHigh: number
  readonly sequenceLow: number
  readonly sequenceHigh: number
  readonly dualClip: number
  readonly formulas: Readonly<Record<Recorded, Alone>>
  readonly gspoPlain: Alone
  readonly gspoSame: Alone
}
const vectors = recorded('policies') as Vectors
const { clipLow, clipHigh, sequenceLow, sequenceHigh, dualClip } = vectors
const losses: Readonly<Record<Recorded, PolicyLoss>> = {
  importance_sampling: { kind: 'importance_sampling' },
  ppo: { kind: 'ppo', clipLow, clipHigh },
  dual_clip: { kind: 'ppo', clipLow, clipHigh, dualClip },
  cispo: { kind: 'cispo', clipLow, clipHigh },
  gspo: { kind: 'gspo', clipLow: sequenceLow, clipHigh: sequenceHigh },
}

/** Eight sequences of four tokens, as they were recorded; or all tokens with the advantage of the first. */
function sequences(same = false): readonly SampleTerms[] {
  const [old, shift, advantages] = [numbers(80, 32), numbers(83, 32, 0.6), numbers(81, 32)]
  const rows = (values: Float32Array, i: number) => [...values.subarray(4 * i, 4 * i + 4)]
  return Array.from({ length: 8 }, (_, i) => {
    const oldLogprobs = rows(old, i).map((value) => Math.fround(value - 2))
    const own = rows(advantages, i)
    return {
      oldLogprobs,
      logprobs: oldLogprobs.map((value, t) => value + (shift[4 * i + t] ?? 0)),
      advantages: same ? own.map(() => own[0] ?? 0) : own,
    }
  })
}

function agrees(loss: PolicyLoss, terms: readonly SampleTerms[], expected: Alone): void {
  const found = terms.map((each) => slopesOf(loss, each))
  expect(
    relativeError(
      found.map((each) => each.loss),
      unpack(expected.loss),
    ),
  ).toBeLessThan(2e-6)
  expect(
    relativeError(
      found.flatMap(({ slopes }) => [...slopes]),
      unpack(expected.gradient),
    ),
  ).toBeLessThan(2e-6)
}

const kinds = Object.keys(losses) as Recorded[]

it.each(kinds)('%s has the values and slopes of PyTorch, inside and outside the bounds', (kind) => {
  agrees(losses[kind], sequences(), vectors.formulas[kind])
})

it('gspo is the sequence’s ratio times its advantage, where its tokens do not differ in that', () => {
  agrees(losses.gspo, sequences(true), vectors.gspoSame)
  agrees(losses.gspo, sequences(true), vectors.gspoPlain)
})

const near = fc.double({ min: -0.9, max: 0.9, noNaN: true })
const token = fc.record({ old: fc.double({ min: -4, max: -1, noNaN: true }), shift: near, advantage: near })

// CISPO holds its weights still: its slopes are those of no loss.
it.each(kinds.filter((kind) => kind !== 'cispo'))('the slopes of %s are those of finite differences', (kind) => {
  const step = 1e-6
  const differentiable: PolicyLoss = losses[kind]
  fc.assert(
    fc.property(fc.array(token, { minLength: 1, maxLength: 5 }), (tokens) => {
      // GSPO with several advantages holds the other tokens' part of its ratio still.
      const advantage = tokens[0]?.advantage ?? 1
      const at = (move: number, t: number): SampleTerms => ({
        oldLogprobs: tokens.map(({ old }) => old),
        logprobs: tokens.map(({ old, shift }, i) => old + shift + (i === t ? move : 0)),
        advantages: tokens.map((one) => (kind === 'gspo' ? advantage : one.advantage)),
      })
      const { slopes } = slopesOf(differentiable, at(0, -1))
      for (const t of tokens.keys()) {
        const [above, below] = [step, -step].map((move) => slopesOf(differentiable, at(move, t)).loss)
        const slope = ((above ?? 0) - (below ?? 0)) / (2 * step)
        const kinks = kinkNear(kind, at(0, -1), t, 10 * step)
        if (!kinks) expect(slopes[t]).toBeCloseTo(slope, 4)
      }
    }),
  )
})

/** Whether a bound is so near that the difference would straddle it. */
function kinkNear(kind: Recorded, { logprobs, oldLogprobs }: SampleTerms, t: number, within: number): boolean {
  const logs = logprobs.map((logprob, i) => logprob - (oldLogprobs[i] ?? 0))
  const mean = logs.reduce((sum, log) => sum + log, 0) / logs.length
  const ratio = Math.exp(kind === 'gspo' ? mean : (logs[t] ?? 0))
  return [clipLow, clipHigh, sequenceLow, sequenceHigh, dualClip].some((bound) => Math.abs(ratio - bound) < within)
}

describe('hand-computed', () => {
  const one = (ratio: number, advantage: number): SampleTerms => ({
    logprobs: [Math.log(ratio) - 1],
    oldLogprobs: [-1],
    advantages: [advantage],
  })
  const bounds = { clipLow: 0.8, clipHigh: 1.2 }
  const slope = (loss: PolicyLoss, ratio: number, advantage: number) => slopesOf(loss, one(ratio, advantage)).slopes[0]

  it('dual clip stops a token that pulls beyond its bound, and changes nothing else', () => {
    const dual: PolicyLoss = { kind: 'ppo', ...bounds, dualClip: 3 }
    expect(slopesOf(dual, one(4, -2)).loss).toBeCloseTo(6, 12)
    expect(slope(dual, 4, -2)).toBe(0)
    expect(slopesOf({ kind: 'ppo', ...bounds }, one(4, -2)).loss).toBeCloseTo(8, 12)
    expect(slope({ kind: 'ppo', ...bounds }, 4, -2)).toBeCloseTo(8, 12)
    for (const [ratio, advantage] of [
      [2.9, -2],
      [4, 2],
      [0.5, -2],
      [0.5, 2],
      [1, 1],
    ] as const) {
      expect(slopesOf(dual, one(ratio, advantage))).toEqual(slopesOf({ kind: 'ppo', ...bounds }, one(ratio, advantage)))
    }
  })

  it('gspo: ratios 2 and 1/2 cancel, and one bound holds for both tokens', () => {
    const terms = { logprobs: [-1 + Math.log(2), -1 - Math.log(2)], oldLogprobs: [-1, -1], advantages: [1, 1] }
    const loss: PolicyLoss = { kind: 'gspo', ...bounds }
    expect(slopesOf(loss, terms)).toEqual({
      loss: expect.closeTo(-2, 12),
      slopes: [expect.closeTo(-1, 12), expect.closeTo(-1, 12)],
    })
    // √2 is past 1.2: neither token pushes, though one of them is where it was.
    const moved = { ...terms, logprobs: [-1 + Math.log(2), -1] }
    expect(slopesOf(loss, moved)).toEqual({ loss: expect.closeTo(-2.4, 12), slopes: [0, 0] })
    expect(slopesOf(loss, { ...moved, advantages: [-1, -1] }).slopes[1]).toBeCloseTo(Math.SQRT2, 12)
  })

  it('a token without an advantage is no part of any loss, nor of a sequence’s ratio', () => {
    const terms = { logprobs: [-1, -9], oldLogprobs: [-1, -1], advantages: [1, 0] }
    for (const loss of Object.values(losses)) expect(slopesOf(loss, terms).slopes).toEqual([-1, 0])
  })
})
