import { describe, expect, it } from 'vitest'
import { runGraph } from '../../../../../test/support/run-graph.ts'
import { GraphBuilder, gated, recall } from '../index.ts'

/** One head of width 1 and scale 1, one query: the entries' scores are their keys times the query. */
async function read(query: number, keys: readonly number[], values: readonly number[], neighbours: number) {
  const graph = new GraphBuilder('recall')
  const input = (name: string) => graph.input(name, 'float32', ['entries', 1])
  const shape = { heads: 1, kvHeads: 1, headDim: 1, attentionScale: 1, neighbours }
  graph.output('read', recall(graph.input('q', 'float32', [1, 1]), input('keys'), input('values'), shape))
  const column = (data: readonly number[]) => ({ data: Float32Array.from(data), shape: [data.length, 1] })
  const found = await runGraph(graph, { q: column([query]), keys: column(keys), values: column(values) })
  return found['read']![0]!
}

const ln = Math.log

describe('recall, by hand', () => {
  it('weighs values by the softmax of the scores', async () => {
    // Scores ln 3 and 0: three parts of four to the first.
    expect(await read(1, [ln(3), 0], [8, 4], 2)).toBeCloseTo(0.75 * 8 + 0.25 * 4, 5)
  })

  it('takes the nearest entries alone', async () => {
    expect(await read(1, [ln(3), 0, ln(2)], [8, 1000, 4], 2)).toBeCloseTo((3 * 8 + 2 * 4) / 5, 5)
    expect(await read(1, [ln(3), 0, ln(2)], [8, 1000, 4], 1)).toBeCloseTo(8, 5)
  })

  it('takes what is nearest to each query', async () => {
    expect(await read(-1, [ln(3), 0, ln(2)], [8, 1000, 4], 1)).toBeCloseTo(1000, 5)
  })

  it('takes all of a memory that has no more entries than neighbours', async () => {
    expect(await read(1, [0, 0], [2, 4], 50)).toBeCloseTo(3, 5)
    expect(await read(1, [7], [2], 50)).toBeCloseTo(2, 5)
  })

  it('takes entries that score as the last one does', async () => {
    expect(await read(1, [0, 0, -1], [2, 4, 1000], 1)).toBeCloseTo(3, 5)
  })

  it('lets query heads that share a key head choose for themselves', async () => {
    const graph = new GraphBuilder('heads')
    const query = graph.input('q', 'float32', [1, 4])
    const input = (name: string) => graph.input(name, 'float32', ['entries', 2])
    const shape = { heads: 4, kvHeads: 2, headDim: 1, attentionScale: 1, neighbours: 1 }
    graph.output('read', recall(query, input('keys'), input('values'), shape))
    const { read: found } = await runGraph(graph, {
      q: { data: Float32Array.of(1, -1, 1, -1), shape: [1, 4] },
      keys: { data: Float32Array.of(5, -5, -5, 5), shape: [2, 2] },
      values: { data: Float32Array.of(1, 2, 3, 4), shape: [2, 2] },
    })
    // Heads 0 and 1 read column 0, heads 2 and 3 column 1; of each pair one takes the first entry and one the second.
    expect([...found!]).toEqual([1, 3, 4, 2])
  })
})

describe('a gate a head', () => {
  it('mixes what is near and what is recalled, each head by its own', async () => {
    const graph = new GraphBuilder('gated')
    const input = (name: string) => graph.input(name, 'float32', ['rows', 6])
    graph.output('mixed', gated(input('local'), input('recalled'), graph.input('gate', 'float32', [3])))
    const row = (values: readonly number[]) => ({ data: Float32Array.from(values), shape: [1, 6] })
    const { mixed } = await runGraph(graph, {
      local: row([1, 2, 1, 2, 1, 2]),
      recalled: row([5, 10, 5, 10, 5, 10]),
      gate: { data: Float32Array.of(-1000, ln(3), 1000), shape: [3] },
    })
    expect([...mixed!]).toEqual([1, 2, 4, 8, 5, 10])
  })
})
