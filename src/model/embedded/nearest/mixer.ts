import { groupBy } from '../../../core/index.ts'
import { InvariantError, present } from '../../../errors/index.ts'
import type { Datastore } from './datastore.ts'
import { type MixParams, neighbourShares } from './mixture.ts'
import { NearestIndex } from './nearest-index.ts'

/** What a job says of the datastore that is mixed in. */
export interface JobNearest extends MixParams {
  /** The id under which it was loaded. */
  readonly datastore: string
}

/** The part of a step's result that is mixed. */
export interface StepRows {
  /** Rows of the vocabulary's size, at temperature 1 where a datastore is mixed in; those become the mixtures. */
  readonly probabilities: Float32Array
  /** `[rows, width]`: the states that keys are compared with. */
  readonly states: Float32Array
  /** One a row: how many rows there are. */
  readonly corrections: Float32Array
}

/** A row of a step whose job mixes a datastore in. */
export interface MixedJob {
  readonly row: number
  readonly nearest: JobNearest
  /** At which the model's part is drawn; 0 takes the most likely token of the mixture at temperature 1. */
  readonly temperature: number
}

/** What {@link Mixer.mix} tells of one row. */
export interface MixedRow {
  /** The mixture's log-probability of a token, with the model at temperature 1. */
  logprob(token: number): number
}

/** The datastores that a shard holds, and the mixtures with them. */
export class Mixer {
  readonly #threads: number
  readonly #indices = new Map<string, NearestIndex>()

  constructor(threads: number) {
    this.#threads = threads
  }

  async load(id: string, datastore: Datastore): Promise<void> {
    if (this.#indices.has(id)) throw new InvariantError(`datastore ${id} is loaded already`)
    this.#indices.set(id, await NearestIndex.open(datastore, this.#threads))
  }

  /** Forgets a datastore that no job uses. */
  async unload(id: string): Promise<void> {
    const index = this.#indices.get(id)
    this.#indices.delete(id)
    await index?.close()
  }

  /** The datastore loaded under an id. */
  get(id: string): NearestIndex {
    return present(this.#indices.get(id), `datastore ${id}`)
  }

  /** Turns the rows of these jobs into mixtures: λ · p_kNN + (1 − λ) · p. One search for all rows of a datastore. */
  async mix(jobs: readonly MixedJob[], result: StepRows): Promise<ReadonlyMap<number, MixedRow>> {
    const mixed = new Map<number, MixedRow>()
    for (const [datastore, group] of groupBy(jobs, ({ nearest }) => nearest.datastore)) {
      const index = this.get(datastore)
      const { width } = index
      const queries = new Float32Array(group.length * width)
      group.forEach(({ row }, i) => queries.set(result.states.subarray(row * width, (row + 1) * width), i * width))
      const counts = group.map(({ nearest }) => nearest.neighbours)
      const found = await index.search(queries, counts)
      group.forEach((job, i) => {
        const shares = neighbourShares(present(found[i], 'the neighbours'), job.nearest)
        mixed.set(job.row, mixRow(job, shares, result))
      })
    }
    return mixed
  }

  async close(): Promise<void> {
    await Promise.all([...this.#indices.keys()].map((id) => this.unload(id)))
  }
}

function mixRow(
  { row, nearest: { weight }, temperature }: MixedJob,
  shares: ReadonlyMap<number, number>,
  { probabilities, corrections }: StepRows,
): MixedRow {
  const size = probabilities.length / corrections.length
  const p = probabilities.subarray(row * size, (row + 1) * size)
  const atOne = new Map<number, number>()
  for (const token of shares.keys()) atOne.set(token, p[token] as number)
  const tempered = temper(p, temperature)
  const own = new Map<number, number>()
  for (const token of shares.keys()) own.set(token, p[token] as number)
  for (let token = 0; token < size; token++) p[token] = (1 - weight) * (p[token] as number)
  for (const [token, share] of shares) p[token] = weight * share + (1 - weight) * (own.get(token) as number)
  return {
    logprob: (token) => {
      const model = atOne.get(token) ?? (weight < 1 ? tempered.atOne((p[token] as number) / (1 - weight)) : 0)
      return Math.min(0, Math.log(weight * (shares.get(token) ?? 0) + (1 - weight) * Math.min(1, model)))
    },
  }
}

/**
 * Turns probabilities at temperature 1 into those at another, in place. It is done here and not in the graph: of a token that
 * a low temperature leaves no chance, the neighbours may still be, and then its probability at temperature 1 is asked for.
 */
function temper(p: Float32Array, temperature: number): { atOne(probability: number): number } {
  if (temperature === 0 || temperature === 1) return { atOne: (probability) => probability }
  let [highest, sum] = [0, 0]
  for (const probability of p) highest = Math.max(highest, probability)
  for (let token = 0; token < p.length; token++) {
    p[token] = Math.exp(Math.log((p[token] as number) / highest) / temperature)
    sum += p[token] as number
  }
  for (let token = 0; token < p.length; token++) p[token] = (p[token] as number) / sum
  return { atOne: (probability) => highest * Math.exp(temperature * Math.log(probability * sum)) }
}
