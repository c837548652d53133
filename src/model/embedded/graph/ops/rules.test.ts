import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { numbers, recorded, relativeError, unpack } from '../../../../../test/support/recorded.ts'
import { type Fed, runGraph } from '../../../../../test/support/run-graph.ts'
import {
  type Float,
  GraphBuilder,
  type GraphOptions,
  add,
  addBias,
  attention,
  clip,
  columns,
  exp,
  gated,
  gatherRows,
  geglu,
  gradients,
  linear,
  minimum,
  mul,
  neg,
  recall,
  reshape,
  rmsNorm,
  rotary,
  stack,
  stopGradient,
  sub,
  swiglu,
  targetLogprobs,
  transpose,
} from '../index.ts'
import { present } from '../../../../errors/index.ts'
import { rotaryTables } from '../../transformer/rotary-tables.ts'

type Vectors = Record<string, { output: string; gradients: string[] }> & { mask: string }
const vectors = recorded('rules') as Vectors

/** One operation on leaves of the given shapes. `at` keeps a leaf's values away from kinks. */
interface Case {
  readonly shapes: readonly (readonly number[])[]
  readonly apply: (...leaves: Float[]) => Float
  readonly kinks?: boolean
}

const integers = (values: readonly number[]) => BigInt64Array.from(values.map(BigInt))
const longs = (
  graph: GraphBuilder,
  name: string,
  values: readonly number[],
  shape: readonly number[] = [values.length],
) => graph.initializer(name, 'int64', shape, integers(values))

const cases: Record<string, Case> = {
  add: {
    shapes: [
      [2, 3],
      [2, 3],
    ],
    apply: add,
  },
  sub: {
    shapes: [
      [2, 3],
      [2, 3],
    ],
    apply: sub,
  },
  mul: {
    shapes: [
      [2, 3],
      [2, 3],
    ],
    apply: mul,
  },
  neg: { shapes: [[2, 3]], apply: neg },
  exp: { shapes: [[2, 3]], apply: exp },
  minimum: {
    shapes: [
      [4, 5],
      [4, 5],
    ],
    apply: minimum,
    kinks: true,
  },
  clip: { shapes: [[4, 5]], apply: (x) => clip(x, x.graph.scalar(-0.3), x.graph.scalar(0.4)), kinks: true },
  linear: {
    shapes: [
      [2, 3, 4],
      [5, 4],
    ],
    apply: (x, w) => linear(x, w, 0.5),
  },
  transpose: { shapes: [[2, 3, 4]], apply: (x) => transpose(x, [2, 0, 1]) },
  reshape: { shapes: [[2, 3, 4]], apply: (x) => reshape(x, [6, 2, 2]) },
  rmsNorm: { shapes: [[2, 3, 8], [8]], apply: (x, w) => rmsNorm(x, w, 1e-5) },
  rotary: {
    shapes: [[1, 3, 8]],
    apply: (x) => {
      const { cos, sin } = rotaryTables(4, 4, { theta: 10000 })
      const table = (name: string, data: Float32Array) => x.graph.initializer(name, 'float32', [4, 2], data)
      return rotary(x, longs(x.graph, 'positions', [0, 1, 2], [1, 3]), {
        cos: table('cos', cos),
        sin: table('sin', sin),
      })
    },
  },
  swiglu: {
    shapes: [
      [2, 3, 8],
      [2, 3, 8],
    ],
    apply: swiglu,
  },
  geglu: {
    shapes: [
      [2, 3, 8],
      [2, 3, 8],
    ],
    // Wide enough that the approximation's cubic term counts.
    apply: (gate, up) => geglu(mul(gate, gate.graph.scalar(4)), up),
  },
  addBias: { shapes: [[2, 3, 8], [8]], apply: addBias },
  attention: {
    shapes: [
      [2, 3, 16],
      [2, 5, 8],
      [2, 5, 8],
    ],
    apply: (q, k, v) => {
      const mask = q.graph.initializer('mask', 'float32', [2, 3, 5], unpack(vectors.mask))
      return attention(q, k, v, mask, { heads: 4, kvHeads: 2, headDim: 4 })
    },
  },
  columns: { shapes: [[2, 3, 8]], apply: (x) => columns(x, 2, 3) },
  stack: {
    shapes: [
      [2, 5],
      [3, 5],
    ],
    apply: (a, b) => stack([a, b]),
  },
  recall: {
    shapes: [[2, 3, 16]],
    apply: (q) => {
      const memory = (name: string, seed: number) => q.graph.initializer(name, 'float32', [5, 8], numbers(seed, 40))
      // Every entry: with fewer, finite differences would step over the choice of entries.
      const shape = { heads: 4, kvHeads: 2, headDim: 4, neighbours: 5 }
      return recall(q, memory('keys', 302), memory('values', 303), shape)
    },
  },
  gated: { shapes: [[2, 3, 8], [2, 3, 8], [2]], apply: gated },
  gatherRows: { shapes: [[4, 6]], apply: (x) => gatherRows(x, longs(x.graph, 'picks', [3, 0, 3, 1, 3])) },
  targetLogprobs: {
    shapes: [[3, 7]],
    apply: (z) => targetLogprobs(z, longs(z.graph, 'targets', [2, 0, 6]), z.graph.scalar(1 / 0.8)),
  },
}

const size = (shape: readonly number[]) => shape.reduce((product, dimension) => product * dimension, 1)

/** A graph with the operation's output, and the gradients of Σ output · upstream. */
function graphOf(
  { shapes, apply }: Case,
  options: GraphOptions = {},
): { graph: GraphBuilder; upstreamShape: readonly number[] } {
  const graph = new GraphBuilder('rule', options)
  const leaves = shapes.map((shape, index) => graph.input(`x${index}`, 'float32', shape))
  const output = apply(...leaves)
  const upstreamShape = output.shape as number[]
  graph.output('output', output)
  const weighted = mul(output, graph.input('upstream', 'float32', upstreamShape))
  for (const [index, gradient] of gradients(weighted, leaves).entries()) graph.output(`g${index}`, gradient!)
  return { graph, upstreamShape }
}

describe.each(Object.entries(cases))('the rule of %s', (name, rule) => {
  it('gives the output and gradients of PyTorch', async () => {
    const { graph, upstreamShape } = graphOf(rule)
    const leaves = rule.shapes.map((shape, index): [string, Fed] => [
      `x${index}`,
      { data: numbers(100 + index, size(shape)), shape },
    ])
    const upstream = { data: numbers(200, size(upstreamShape)), shape: upstreamShape }
    const found = await runGraph(graph, { ...Object.fromEntries(leaves), upstream })
    const expected = vectors[name]!
    expect(relativeError(found['output']!, unpack(expected.output))).toBeLessThan(2e-6)
    for (const [index, gradient] of expected.gradients.entries()) {
      expect(relativeError(found[`g${index}`]!, unpack(gradient)), `gradient of operand ${index}`).toBeLessThan(3e-6)
    }
  })

  it('agrees with finite differences along random directions', async () => {
    const { graph, upstreamShape } = graphOf(rule)
    await fc.assert(
      fc.asyncProperty(fc.nat(2 ** 31), async (seed) => {
        const values = rule.shapes.map((shape, index) => awayFromKinks(numbers(seed + index, size(shape)), rule, index))
        const directions = rule.shapes.map((shape, index) => numbers(seed + 50 + index, size(shape)))
        const upstream = numbers(seed + 99, size(upstreamShape))
        const at = (step: number) => {
          const leaves = rule.shapes.map((shape, index): [string, Fed] => {
            const data = values[index]!.map((value, i) => value + step * directions[index]![i]!)
            return [`x${index}`, { data, shape }]
          })
          return runGraph(graph, { ...Object.fromEntries(leaves), upstream: { data: upstream, shape: upstreamShape } })
        }
        const h = 2 ** -9
        const [before, here, after] = [await at(-h), await at(0), await at(h)]
        const slope = (dot(after['output']!, upstream) - dot(before['output']!, upstream)) / (2 * h)
        const predicted = rule.shapes.reduce((sum, _, index) => sum + dot(here[`g${index}`]!, directions[index]!), 0)
        // Central differences in float32: rounding 1e-7 / h and curvature h² both stay near 1e-4.
        expect(Math.abs(predicted - slope)).toBeLessThan(2e-3 * Math.max(1, Math.abs(slope)))
      }),
      { numRuns: 8 },
    )
  })
})

/** Values so placed that a small step crosses no corner of `minimum` or `clip`. */
function awayFromKinks(values: Float32Array, { kinks = false }: Case, operand: number): Float32Array {
  return kinks ? values.map((value) => Math.round(value * 10) / 10 + 0.05 + 0.023 * operand) : values
}

function dot(a: Float32Array, b: Float32Array): number {
  return a.reduce((sum, value, i) => sum + value * b[i]!, 0)
}

it('attention that keeps its shares gives the same bits with fewer nodes', async () => {
  const rule = present(cases.attention, 'the case of attention')
  const fed = (shape: readonly number[], seed: number): Fed => ({ data: numbers(seed, size(shape)), shape })
  const leaves = Object.fromEntries(rule.shapes.map((shape, index) => [`x${index}`, fed(shape, 100 + index)]))
  const run = async (keepsShares: boolean) => {
    const { graph, upstreamShape } = graphOf(rule, { keepsShares })
    const results = await runGraph(graph, { ...leaves, upstream: fed(upstreamShape, 200) })
    return { results, nodes: graph.toOnnx().nodes.length }
  }
  const [again, kept] = [await run(false), await run(true)]
  expect(kept.results).toEqual(again.results)
  expect(kept.nodes).toBeLessThan(again.nodes)
})

describe('gradients', () => {
  it('do not flow through stopGradient', async () => {
    const graph = new GraphBuilder('stop')
    const x = graph.input('x', 'float32', [2])
    const [gradient] = gradients(mul(x, stopGradient(x)), [x])
    graph.output('g', gradient!)
    const { g } = await runGraph(graph, { x: { data: Float32Array.of(3, -4), shape: [2] } })
    expect([...g!]).toEqual([3, -4])
  })

  it('are null for a value that the loss does not read, and cost no nodes', () => {
    const graph = new GraphBuilder('unused')
    const x = graph.input('x', 'float32', [2])
    const y = graph.input('y', 'float32', [2])
    const loss = mul(x, x)
    const before = graph.toOnnx().nodes.length
    expect(gradients(loss, [y])).toEqual([null])
    expect(graph.toOnnx().nodes.length - before).toBeLessThanOrEqual(2)
  })

  it('sum over every use of a value', async () => {
    const graph = new GraphBuilder('fan-out')
    const x = graph.input('x', 'float32', [1])
    const [gradient] = gradients(add(mul(x, x), exp(x)), [x])
    graph.output('g', gradient!)
    const { g } = await runGraph(graph, { x: { data: Float32Array.of(2), shape: [1] } })
    expect(g![0]).toBeCloseTo(4 + Math.exp(2), 5)
  })
})

describe('the builder', () => {
  it('refuses shapes that do not fit, when the graph is built', () => {
    const graph = new GraphBuilder('bad')
    const x = graph.input('x', 'float32', ['rows', 4])
    expect(() => linear(x, graph.input('w', 'float32', [3, 5]))).toThrow(/4 and 5 differ/)
    expect(() => add(x, graph.input('y', 'float32', ['other', 4]))).toThrow(/do not broadcast/)
  })

  it('refuses a gradient to a broadcast operand, for which there is no rule', () => {
    const graph = new GraphBuilder('broadcast')
    const row = graph.input('row', 'float32', [4])
    const loss = add(graph.input('x', 'float32', ['rows', 4]), row)
    expect(() => gradients(loss, [row])).toThrow(/broadcast/)
  })

  it('refuses values of another graph', () => {
    const one = new GraphBuilder('one').input('x', 'float32', [1])
    const two = new GraphBuilder('two').input('x', 'float32', [1])
    expect(() => add(one, two)).toThrow(/graph one was given x of graph two/)
  })
})
