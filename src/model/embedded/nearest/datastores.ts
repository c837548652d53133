import type { AdapterRef, DatastoreRef } from '../../../core/index.ts'
import { InvalidSampleRequestError } from '../sampling/invalid-sample-request-error.ts'
import { References } from '../sampling/references.ts'
import { type Datastore, type DatastoreOrigin, checkDatastore, mostEntries, mostNeighbours } from './datastore.ts'
import { DatastoreMismatchError } from './datastore-mismatch-error.ts'
import { InvalidDatastoreError } from './invalid-datastore-error.ts'
import type { Neighbours } from './mixture.ts'
import type { ReadChunk, ReadRequest } from './text-reader.ts'
import { UnknownDatastoreError } from './unknown-datastore-error.ts'

/** Where texts are read and datastores searched: the engine's workers. */
export interface DatastoreBackend {
  loadDatastore(id: string, datastore: Datastore): Promise<void>
  unloadDatastore(id: string): Promise<void>
  /** Names an adapter's weights, or the base model's (`null`), wherever they are loaded. */
  fingerprint(adapter: string | null): Promise<string>
  read(request: ReadRequest): Promise<ReadChunk>
  /** Forgets a text that was not read to its end. */
  endReading(reading: number): Promise<void>
}

/** The engine's limits that texts are held to. */
export interface ReadLimits {
  readonly vocabularySize: number
  /** Longest text, in tokens. */
  readonly contextLength: number
  readonly hiddenSize: number
}

/** Who reads a text. */
export interface ReadOptions {
  /** Default: the base model. */
  readonly adapter?: AdapterRef | null
  /** Ends the reading: the promise rejects with its reason. */
  readonly signal?: AbortSignal
}

/** Who reads, and what stands in front of each text. */
interface Reading extends ReadOptions {
  readonly virtual: readonly number[]
}

/** What is wanted of a text besides its log-probabilities. */
export interface TextReadOptions extends ReadOptions {
  /** The nearest entries of which datastore, and how many, from 1 to 1,024. Default: none. */
  readonly nearest?: { readonly datastore: DatastoreRef; readonly count: number }
  /** Whether the states are. Default false. */
  readonly states?: boolean
}

/** What the model said of a text of n tokens; the lists have n − 1 entries, the first about the second token. */
export interface TextRead {
  /** Log-probability of each token after those before it, at temperature 1; at least −103.3. */
  readonly logprobs: Float64Array
  /** The nearest entries of the datastore that was named, after the same tokens; empty without one. */
  readonly neighbours: readonly Neighbours[]
  /** `[n − 1, hidden size]`: the states before the same tokens, as a datastore keeps them; empty where they are not wanted. */
  readonly states: Float32Array
}

/** Tokens that one run reads: jobs go on between runs. */
const part = 64

/**
 * The datastores of an engine: built from text, held for sampling, and searched for text that is given. Each worker holds a
 * copy of every datastore that is loaded, 4 · (hidden size + 2) bytes an entry, and the caller's is another. The keys and
 * values of a text are held while it is read, beside `cacheBytes`.
 */
export class Datastores {
  readonly #backend: DatastoreBackend
  readonly #limits: ReadLimits
  readonly #adapters: References<readonly number[]>
  readonly #held = new References<DatastoreOrigin>((id) => new UnknownDatastoreError(id))
  readonly #fingerprints = new Map<string | null, Promise<string>>()
  #loaded = 0
  #readings = 0

  constructor(backend: DatastoreBackend, adapters: References<readonly number[]>, limits: ReadLimits) {
    this.#adapters = adapters
    this.#backend = backend
    this.#limits = limits
  }

  /**
   * Reads texts and keeps the state after every token but each text's last, with the token that followed: a text of n
   * tokens becomes n − 1 entries.
   * @throws InvalidDatastoreError when they come to no entry, or to more than 100,000.
   * @throws InvalidSampleRequestError for a text that the engine cannot read.
   */
  async build(texts: readonly (readonly number[])[], options: ReadOptions = {}): Promise<Datastore> {
    const entries = texts.reduce((sum, { length }) => sum + Math.max(0, length - 1), 0)
    if (entries === 0 || entries > mostEntries)
      throw new InvalidDatastoreError(`these texts come to ${entries} entries, and 1 to ${mostEntries} are searched.`)
    const { adapter = null } = options
    return this.#with(adapter, async (virtual) => {
      for (const text of texts) this.#check(text, virtual)
      return {
        keys: await this.#keysOf(texts, entries, { ...options, virtual }),
        tokens: Int32Array.from(texts.flatMap((text) => text.slice(1))),
        width: this.#limits.hiddenSize,
        origin: {
          model: await this.#fingerprint(null),
          adapter: adapter && (await this.#fingerprint(adapter.id)),
        },
      }
    })
  }

  async #keysOf(texts: readonly (readonly number[])[], entries: number, options: Reading): Promise<Float32Array> {
    const width = this.#limits.hiddenSize
    const keys = new Float32Array(entries * width)
    let taken = 0
    const places = texts.map((text) => {
      const place = { text, offset: taken * width }
      taken += Math.max(0, text.length - 1)
      return place
    })
    // As many at once as an engine has workers at most; they share the iterator.
    const waiting = places.values()
    const failed = new AbortController()
    const signal = AbortSignal.any([failed.signal, ...(options.signal ? [options.signal] : [])])
    const read = async () => {
      try {
        for (const place of waiting) {
          let { offset } = place
          await this.#readParts(
            place.text,
            { states: true, neighbours: null },
            { ...options, signal },
            ({ states }) => {
              keys.set(states, offset)
              offset += states.length
            },
          )
        }
      } catch (error) {
        failed.abort(error)
        throw error
      }
    }
    await Promise.all(Array.from({ length: 4 }, read))
    return keys
  }

  /**
   * What the model says of a given text, and what a loaded datastore has near it: `mixtureLogprobs` makes of both the
   * text's log-probabilities under any mixture of up to `count` neighbours.
   * @throws InvalidSampleRequestError for a text that the engine cannot read, or another count.
   * @throws UnknownDatastoreError, DatastoreMismatchError for a datastore that cannot be searched with these weights.
   */
  async read(
    text: readonly number[],
    { nearest, states = false, ...options }: TextReadOptions = {},
  ): Promise<TextRead> {
    if (nearest && !(Number.isInteger(nearest.count) && nearest.count >= 1 && nearest.count <= mostNeighbours))
      throw new InvalidSampleRequestError(
        `${nearest.count} neighbours were asked for.`,
        `Ask for 1 to ${mostNeighbours}.`,
      )
    const { adapter = null } = options
    const reading = async (virtual: readonly number[]) => {
      this.#check(text, virtual)
      const logprobs: number[] = []
      const neighbours: Neighbours[] = []
      const width = states ? this.#limits.hiddenSize : 0
      const found = new Float32Array(Math.max(0, text.length - 1) * width)
      const wants = { states, neighbours: nearest ? { ...nearest, datastore: nearest.datastore.id } : null }
      await this.#readParts(text, wants, { ...options, virtual }, (chunk) => {
        found.set(chunk.states, logprobs.length * width)
        logprobs.push(...chunk.logprobs)
        neighbours.push(...chunk.neighbours)
      })
      return { logprobs: Float64Array.from(logprobs), neighbours, states: found }
    }
    return this.#with(adapter, (virtual) => this.during(nearest?.datastore ?? null, adapter, () => reading(virtual)))
  }

  /**
   * Holds a datastore for sampling and returns its reference.
   * @throws InvalidDatastoreError when it cannot be searched.
   * @throws DatastoreMismatchError when another model computed it.
   */
  async load(datastore: Datastore): Promise<DatastoreRef> {
    checkDatastore(datastore)
    const { width, tokens, origin } = datastore
    const { hiddenSize, vocabularySize } = this.#limits
    const model = await this.#fingerprint(null)
    if (width !== hiddenSize || origin.model !== model)
      throw new DatastoreMismatchError(
        `its keys are of model ${origin.model.slice(0, 12)}, this is ${model.slice(0, 12)}.`,
      )
    if (tokens.some((token) => token >= vocabularySize))
      throw new InvalidDatastoreError(`a token is outside the vocabulary of ${vocabularySize}.`)
    const id = `datastore-${this.#loaded++}`
    await this.#backend.loadDatastore(id, datastore)
    this.#held.add(id, origin)
    return { kind: 'datastore', id }
  }

  /**
   * Forgets a datastore. Requests in flight end as they would have; new ones are refused at once.
   * @throws UnknownDatastoreError
   */
  async unload({ id }: DatastoreRef): Promise<void> {
    await this.#held.retire(id)
    await this.#backend.unloadDatastore(id)
  }

  /**
   * Does what needs a datastore, if there is one, with an adapter: unloading it waits for that.
   * @throws UnknownDatastoreError, DatastoreMismatchError when these weights cannot search it.
   */
  async during<T>(datastore: DatastoreRef | null, adapter: AdapterRef | null, work: () => Promise<T>): Promise<T> {
    if (datastore === null) return work()
    return this.#held.during(datastore.id, async (origin) => {
      const own = adapter && (await this.#fingerprint(adapter.id))
      const name = (hash: string | null) => (hash === null ? 'the base model' : `the adapter ${hash.slice(0, 12)}`)
      if (own !== origin.adapter)
        throw new DatastoreMismatchError(`its keys are of ${name(origin.adapter)}, and ${name(own)} asks.`)
      return work()
    })
  }

  /** @param work gets what stands in front of every text: the tokens of a soft prompt. */
  #with<T>(adapter: AdapterRef | null, work: (virtual: readonly number[]) => Promise<T>): Promise<T> {
    return adapter === null ? work([]) : this.#adapters.during(adapter.id, work)
  }

  #fingerprint(adapter: string | null): Promise<string> {
    const known = this.#fingerprints.get(adapter)
    if (known) return known
    const asked = this.#backend.fingerprint(adapter)
    this.#fingerprints.set(adapter, asked)
    asked.catch(() => this.#fingerprints.delete(adapter))
    return asked
  }

  async #readParts(
    text: readonly number[],
    wants: Pick<ReadRequest, 'states' | 'neighbours'>,
    { adapter = null, virtual, signal }: Reading,
    take: (chunk: ReadChunk) => void,
  ): Promise<void> {
    const reading = this.#readings++
    const tokens = Int32Array.from([...virtual, ...text])
    const from = { reading, adapter: adapter?.id ?? null, tokens }
    try {
      if (virtual.length > 0 && text.length > 1)
        await this.#backend.read({ ...from, states: false, neighbours: null, start: 0, end: virtual.length })
      for (let start = virtual.length; start < tokens.length - 1; start += part) {
        signal?.throwIfAborted()
        const end = Math.min(start + part, tokens.length - 1)
        take(await this.#backend.read({ ...wants, ...from, start, end }))
      }
    } catch (error) {
      // Where the engine is closed there is nothing left to forget.
      await this.#backend.endReading(reading).catch(() => undefined)
      throw error
    }
  }

  #check(text: readonly number[], virtual: readonly number[]): void {
    const { vocabularySize, contextLength } = this.#limits
    const most = contextLength - virtual.length
    if (text.length > most)
      throw new InvalidSampleRequestError(
        `a text has ${text.length} tokens, and ${most} are read at once.`,
        'Divide it, or open the engine with a larger contextLength.',
      )
    const foreign = text.find((token) => !Number.isInteger(token) || token < 0 || token >= vocabularySize)
    if (foreign !== undefined)
      throw new InvalidSampleRequestError(
        `token ${foreign} of a text is outside the vocabulary of ${vocabularySize}.`,
        'Encode it with the tokenizer of this model.',
      )
  }
}

/** What users of an engine do with datastores. */
export type EngineDatastores = Pick<Datastores, 'build' | 'read' | 'load' | 'unload'>
