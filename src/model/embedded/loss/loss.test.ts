import { describe, expect, it } from 'vitest'
import { numbers, recorded, relativeError, unpack } from '../../../../test/support/recorded.ts'
import { runGraph } from '../../../../test/support/run-graph.ts'
import { GraphBuilder, gradients } from '../graph/index.ts'
import { type LossKind, fedLoss, lossNumber, tokenLosses } from './index.ts'

interface Vectors {
  readonly clipLow: number
  readonly clipHigh: number
  readonly formulas: Record<LossKind, { readonly loss: string; readonly gradient: string }>
}

const vectors = recorded('losses') as Vectors
const rows = 32

/** The loss of each row and its slope in the log-probability. */
async function evaluate(
  kind: LossKind,
  terms: Record<'logprobs' | 'weights' | 'oldLogprobs' | 'advantages', Float32Array>,
) {
  const graph = new GraphBuilder(kind)
  const row = (name: string) => graph.input(name, 'float32', ['rows'])
  const logprobs = row('logprobs')
  const loss = fedLoss(graph.input('kind', 'int64', []), {
    logprobs,
    weights: row('weights'),
    oldLogprobs: row('oldLogprobs'),
    advantages: row('advantages'),
    clipLow: graph.scalar(vectors.clipLow),
    clipHigh: graph.scalar(vectors.clipHigh),
  })
  graph.output('loss', loss)
  graph.output('slope', gradients(loss, [logprobs])[0]!)
  const feeds = Object.entries(terms).map(([name, data]) => [name, { data, shape: [data.length] }] as const)
  const chosen = { data: BigInt64Array.of(lossNumber(kind)), shape: [] }
  const { loss: losses, slope } = await runGraph(graph, { ...Object.fromEntries(feeds), kind: chosen })
  return { loss: losses!, slope: slope! }
}

const kinds = Object.keys(tokenLosses) as LossKind[]

describe.each(kinds)('%s', (kind) => {
  it('has the values and slopes of PyTorch, inside and outside the bounds', async () => {
    const oldLogprobs = numbers(80, rows).map((value) => value - 2)
    const shift = numbers(83, rows, 0.6)
    const found = await evaluate(kind, {
      oldLogprobs,
      logprobs: oldLogprobs.map((value, i) => value + shift[i]!),
      advantages: numbers(81, rows),
      weights: numbers(82, rows).map((value) => value + 1),
    })
    expect(relativeError(found.loss, unpack(vectors.formulas[kind].loss))).toBeLessThan(1e-6)
    expect(relativeError(found.slope, unpack(vectors.formulas[kind].gradient))).toBeLessThan(1e-6)
  })
})

describe('the clip', () => {
  const row = (ratio: number, advantage: number) => ({
    logprobs: Float32Array.of(Math.log(ratio) - 1),
    oldLogprobs: Float32Array.of(-1),
    advantages: Float32Array.of(advantage),
    weights: Float32Array.of(1),
  })

  it('of ppo stops a token that has moved far enough, and lets the others pull back', async () => {
    const slope = async (ratio: number, advantage: number) => (await evaluate('ppo', row(ratio, advantage))).slope[0]
    expect(await slope(1.5, 1)).toBe(0)
    expect(await slope(0.5, -1)).toBe(0)
    expect(await slope(1.5, -1)).toBeCloseTo(1.5, 5)
    expect(await slope(0.5, 1)).toBeCloseTo(-0.5, 5)
    expect(await slope(1.1, 1)).toBeCloseTo(-1.1, 5)
  })

  it('of cispo bounds the weight of a token and never its gradient', async () => {
    const slope = async (ratio: number) => (await evaluate('cispo', row(ratio, 1))).slope[0]
    expect(await slope(1.5)).toBeCloseTo(-1.2, 5)
    expect(await slope(0.5)).toBeCloseTo(-0.8, 5)
    expect(await slope(1.1)).toBeCloseTo(-1.1, 5)
  })
})

it('a loss that is not chosen adds nothing, also where it is infinite', async () => {
  const terms = {
    logprobs: Float32Array.of(-1, -1),
    oldLogprobs: Float32Array.of(-200, Number.NEGATIVE_INFINITY),
    advantages: Float32Array.of(-1, 1),
    weights: Float32Array.of(2, 2),
  }
  const { loss, slope } = await evaluate('cross_entropy', terms)
  expect([...loss, ...slope]).toEqual([2, 2, -2, -2])
})

describe('a ratio past the range of float32', () => {
  const far = (difference: number, advantage: number, weight = 1) => ({
    logprobs: Float32Array.of(-1),
    oldLogprobs: Float32Array.of(-1 - difference),
    advantages: Float32Array.of(advantage),
    weights: Float32Array.of(weight),
  })
  const at = async (kind: LossKind, terms: ReturnType<typeof far>) => {
    const { loss, slope } = await evaluate(kind, terms)
    return { loss: loss[0]!, slope: slope[0]! }
  }

  it.each([89, 200, 1e30, Number.POSITIVE_INFINITY])(
    'stops a token of ppo that has moved far enough (%d)',
    async (by) => {
      // min(ρ·2, 1.2·2) = 2.4, whatever ρ.
      const { loss, slope } = await at('ppo', far(by, 2, 0.5))
      expect(loss).toBeCloseTo(-1.2, 6)
      expect(slope).toBe(0)
    },
  )

  it.each([-89, -200, -1e30, Number.NEGATIVE_INFINITY])(
    'is 0 where a token cannot be drawn any more (%d)',
    async (by) => {
      // ρ = 0: min(0 · −2, 0.8 · −2) = −1.6 with slope 0; min(0 · 2, 0.8 · 2) = 0.
      const away = await at('ppo', far(by, -2))
      expect([away.loss, away.slope]).toEqual([expect.closeTo(1.6, 6), 0])
      const back = await at('ppo', far(by, 2))
      expect([back.loss, back.slope]).toEqual([expect.closeTo(0, 30), expect.closeTo(0, 30)])
      expect((await at('importance_sampling', far(by, 2))).slope).toBeCloseTo(0, 30)
      // −sg[0.8]·lp·A = −0.8 · −1 · 2.
      const kept = await at('cispo', far(by, 2))
      expect([kept.loss, kept.slope]).toEqual([expect.closeTo(1.6, 6), expect.closeTo(-1.6, 6)])
    },
  )

  it.each([89, 200, Number.POSITIVE_INFINITY])('bounds the weight of a token of cispo (%d)', async (by) => {
    // −sg[1.2]·lp·A = −1.2 · −1 · 2.
    const { loss, slope } = await at('cispo', far(by, 2))
    expect([loss, slope]).toEqual([expect.closeTo(2.4, 6), expect.closeTo(-2.4, 6)])
  })

  it.each([89, 200, Number.POSITIVE_INFINITY])(
    'is told as infinite where it pulls: no step is right (%d)',
    async (by) => {
      // −min(ρ·−2, 1.2·−2) = 2ρ, and −ρ·A.
      expect(await at('ppo', far(by, -2))).toEqual({ loss: Infinity, slope: Infinity })
      expect(await at('importance_sampling', far(by, -2))).toEqual({ loss: Infinity, slope: Infinity })
      expect(await at('importance_sampling', far(by, 2))).toEqual({ loss: -Infinity, slope: -Infinity })
    },
  )
})
