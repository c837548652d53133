/** Tokens of a block: prefixes are known up to whole blocks. */
const blockTokens = 8

/** Blocks remembered; the least recently used are forgotten first. */
const rememberedBlocks = 2 ** 16

/** Sampled tokens assumed for a job before any job has ended. */
const firstGuess = 16

/**
 * How much a job's own work counts against the work that waits before it. Above 1, work that one worker need not do is
 * avoided even if another would be done a little sooner: it would delay the jobs behind.
 */
const thrift = 2

/** A job's place: which worker, and the load it adds there until {@link PrefixRouter.release}. */
export interface Placement {
  readonly worker: number
  readonly cost: number
}

/**
 * Sends each job to the worker where it should be done first: where the least work is waiting, counting the part of the
 * prompt that the worker would have to compute because it has not seen it. So later turns stay with the worker that
 * holds their history, and the members of a group with a long prompt stay together, unless it is much busier.
 */
export class PrefixRouter {
  readonly #loads: number[]
  /** Workers that hold a block of a prefix, as bits, by the hash of the prefix up to its end. */
  readonly #holders = new Map<number, number>()
  #averageSampled = firstGuess

  constructor(workers: number) {
    this.#loads = Array<number>(workers).fill(0)
  }

  place(adapter: string | null, prompt: Int32Array, maxTokens: number): Placement {
    const hashes = prefixHashes(adapter, prompt)
    const known = this.#loads.map(() => 0)
    hashes.forEach((hash, block) => {
      const holders = this.#holders.get(hash) ?? 0
      for (let worker = 0; worker < known.length; worker++) {
        if (holders & (1 << worker)) known[worker] = (block + 1) * blockTokens
      }
    })
    const costs = known.map((tokens) => prompt.length - tokens + Math.min(maxTokens, this.#averageSampled))
    const delays = costs.map((cost, worker) => (this.#loads[worker] as number) + thrift * cost)
    const worker = delays.indexOf(Math.min(...delays))
    const cost = costs[worker] as number
    this.#loads[worker] = (this.#loads[worker] as number) + cost
    this.#remember(hashes, worker)
    return { worker, cost }
  }

  /** A job has ended, with these tokens: the worker now holds them after its prompt. */
  release({ worker, cost }: Placement, adapter: string | null, prompt: Int32Array, sampled: Int32Array): void {
    this.#loads[worker] = (this.#loads[worker] as number) - cost
    this.#averageSampled += (sampled.length - this.#averageSampled) / 32
    const tokens = new Int32Array(prompt.length + sampled.length)
    tokens.set(prompt)
    tokens.set(sampled, prompt.length)
    this.#remember(prefixHashes(adapter, tokens), worker)
  }

  #remember(hashes: readonly number[], worker: number): void {
    for (const hash of hashes) {
      const holders = this.#holders.get(hash) ?? 0
      this.#holders.delete(hash)
      this.#holders.set(hash, holders | (1 << worker))
    }
    for (const hash of this.#holders.keys()) {
      if (this.#holders.size <= rememberedBlocks) break
      this.#holders.delete(hash)
    }
  }
}

/** A hash of the adapter and all tokens up to the end of each whole block. A collision costs time, never correctness. */
function prefixHashes(adapter: string | null, tokens: Int32Array): number[] {
  let [high, low] = [0x811c9dc5, 0x9e3779b9]
  const mix = (value: number) => {
    high = Math.imul(high ^ value, 0x01000193)
    low = Math.imul(low ^ value, 0x85ebca6b) + (high >>> 13)
  }
  for (const character of adapter ?? '') mix(character.charCodeAt(0))
  mix(adapter === null ? 1 : 2)
  const hashes: number[] = []
  for (let position = 0; position < tokens.length; position++) {
    mix(tokens[position] as number)
    if ((position + 1) % blockTokens === 0) hashes.push((high >>> 11) * 2 ** 32 + (low >>> 0))
  }
  return hashes
}
