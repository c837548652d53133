import { Tensor } from 'onnxruntime-node'
import { present } from '../../../errors/index.ts'
import { type Session, openSession } from '../device/session.ts'
import { GraphBuilder } from '../graph/index.ts'
import type { Datastore } from './datastore.ts'
import type { Neighbours } from './mixture.ts'

/** More candidates than are asked for: what rounding puts in the wrong order there is put right by exact distances. */
const spare = 16

/**
 * Exact search in one datastore, on the processor. One product of all keys with the queries finds the candidates, by
 * k · q − |k|² / 2 in float32; their distances are then computed as sums of squared differences in float64. Entries as far
 * away as the last candidate, but for float32's rounding, may be left out. Equal distances come in the order of the entries.
 */
export class NearestIndex {
  readonly #session: Session
  readonly #datastore: Datastore
  readonly #keys: Tensor
  /** −|key|² / 2. */
  readonly #offsets: Tensor

  private constructor(session: Session, datastore: Datastore) {
    const { keys, tokens, width } = datastore
    const offsets = Float32Array.from(tokens, (_, entry) => {
      let sum = 0
      for (let i = entry * width; i < (entry + 1) * width; i++) sum += (keys[i] as number) ** 2
      return -sum / 2
    })
    this.#session = session
    this.#datastore = datastore
    this.#keys = new Tensor('float32', keys, [tokens.length, width])
    this.#offsets = new Tensor('float32', offsets, [tokens.length, 1])
  }

  /** @param threads ONNX Runtime threads inside one operator. */
  static async open(datastore: Datastore, threads: number): Promise<NearestIndex> {
    return new NearestIndex(await openSession(searchGraph(datastore.width), { threads }), datastore)
  }

  /** Elements of a key. */
  get width(): number {
    return this.#datastore.width
  }

  /**
   * The entries nearest to each query. What a query finds does not depend on the others.
   * @param queries `[rows, width]`.
   * @param counts how many, for each row; all where there are fewer.
   */
  async search(queries: Float32Array, counts: readonly number[]): Promise<readonly Neighbours[]> {
    const { tokens, width } = this.#datastore
    // A lone row goes through other kernels: with a second one it is computed as rows among others are.
    const fed = counts.length === 1 ? Float32Array.of(...queries, ...queries) : queries
    const most = Math.min(tokens.length, Math.max(...counts) + spare)
    const outputs = await this.#session.run({
      queries: new Tensor('float32', fed, [fed.length / width, width]),
      keys: this.#keys,
      offsets: this.#offsets,
      count: new Tensor('int64', BigInt64Array.of(BigInt(most)), [1]),
    })
    const { data, dims } = present(outputs['entries'], 'the nearest entries')
    const found = data as BigInt64Array
    const columns = dims[1] as number
    return counts.map((count, row) => {
      const entries = Array.from({ length: Math.min(most, count + spare) }, (_, rank) =>
        Number(found[rank * columns + row]),
      )
      return this.#nearest(queries.subarray(row * width, (row + 1) * width), entries, count)
    })
  }

  #nearest(query: Float32Array, entries: readonly number[], count: number): Neighbours {
    const { tokens } = this.#datastore
    const ordered = entries
      .map((entry) => ({ entry, distance: this.#distance(query, entry) }))
      .sort((a, b) => a.distance - b.distance || a.entry - b.entry)
      .slice(0, count)
    return {
      distances: Float64Array.from(ordered, ({ distance }) => distance),
      tokens: Int32Array.from(ordered, ({ entry }) => tokens[entry] as number),
    }
  }

  #distance(query: Float32Array, entry: number): number {
    const { keys, width } = this.#datastore
    let sum = 0
    for (let i = 0; i < width; i++) sum += ((query[i] as number) - (keys[entry * width + i] as number)) ** 2
    return sum
  }

  close(): Promise<void> {
    return this.#session.release()
  }
}

/** Keys are fed, not stored: a stored matrix would be copied a second time. */
function searchGraph(width: number): Uint8Array {
  const graph = new GraphBuilder('nearest')
  const queries = graph.input('queries', 'float32', ['rows', width])
  const keys = graph.input('keys', 'float32', ['entries', width])
  const offsets = graph.input('offsets', 'float32', ['entries', 1])
  const count = graph.input('count', 'int64', [1])
  const attributes = { transB: { int: 1 } }
  const nearness = graph.node('Gemm', [keys, queries, offsets], 'float32', ['entries', 'rows'], { attributes })
  const [, entries] = graph.nodeWithOutputs(
    'TopK',
    [nearness, count],
    [
      { dtype: 'float32', shape: ['count', 'rows'] },
      { dtype: 'int64', shape: ['count', 'rows'] },
    ],
    { attributes: { axis: { int: 0 } } },
  )
  graph.output('entries', present(entries, 'the nearest entries'))
  return graph.build()
}
