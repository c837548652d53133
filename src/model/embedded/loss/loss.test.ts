import { describe, expect, it } from 'vitest'
import { numbers, recorded, relativeError, unpack } from '../../../../test/support/recorded.ts'
import { runGraph } from '../../../../test/support/run-graph.ts'
import { GraphBuilder, gradients } from '../graph/index.ts'
import { type LossKind, tokenLosses } from './index.ts'

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
  const loss = tokenLosses[kind]({
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
  const { loss: losses, slope } = await runGraph(graph, Object.fromEntries(feeds))
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
