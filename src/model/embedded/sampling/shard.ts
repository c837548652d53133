import type { SampleStopReason } from '../../../core/index.ts'
import { present } from '../../../errors/index.ts'
import type { Device } from '../device/device.ts'
import type { BaseWeights } from '../transformer/base-weights.ts'
import type { Datastore } from '../nearest/datastore.ts'
import { Mixer } from '../nearest/mixer.ts'
import { type ReadChunk, type ReadRequest, TextReader } from '../nearest/text-reader.ts'
import type { AdapterContent } from '../train/adapter-content.ts'
import type { Matcher } from '../grammar/matcher.ts'
import { TokenChooser } from './choose.ts'
import type { SampledToken, SampledTokens, SampleJob } from './job.ts'
import { Lane } from './lane.ts'
import type { LaneResources } from './lane-resources.ts'
import { KvGrid } from './kv.ts'
import { type KvHolder, KvMemory } from './kv-memory.ts'
import { PrefixTree } from './prefix-tree.ts'
import { Sequence } from './sequence.ts'
import { StepRunner } from './step.ts'
import { WeightSets } from './weight-sets.ts'

export interface SamplingShardOptions {
  readonly model: BaseWeights
  /** Longest prompt plus continuation, in tokens. */
  readonly contextLength: number
  /** ONNX Runtime threads inside one operator. */
  readonly threads: number
  /** Default `cpu`. */
  readonly device?: Device
  /** Whether a job's result must not depend, in any bit, on what else runs beside or ran before it. */
  readonly deterministic: boolean
  /** Bytes of keys and values: of the sequences that decode, and of what is kept for later prompts. */
  readonly cacheBytes: number
}

/** A job that could not go on, and why. */
export interface FailedJob {
  readonly id: number
  readonly error: unknown
}

/**
 * One worker of data-parallel sampling: holds weights, adapters and caches, and advances its jobs by one run of the
 * model at a time. Blocks its thread while the model runs: host shards in workers outside of tests.
 */
export class SamplingShard {
  readonly #weights: WeightSets
  readonly #shared: LaneResources
  /** In the order of their turns. */
  readonly #lanes = new Map<string | null, Lane>()
  readonly #sequences = new Map<number, { readonly sequence: Sequence; readonly lane: Lane }>()
  readonly #streamed = new Set<Sequence>()
  readonly #cancelled = new Set<number>()
  #failures: FailedJob[] = []
  readonly #reader: TextReader

  private constructor(
    weights: WeightSets,
    { model, threads, device, deterministic, cacheBytes }: SamplingShardOptions,
  ) {
    const { layers, kvHeads, headDim, vocabSize } = model.config
    const shape = { layers, kvHeads, headDim }
    const memory = new KvMemory(cacheBytes / Float32Array.BYTES_PER_ELEMENT)
    const past = new KvGrid(shape)
    memory.add(scratch(past))
    this.#weights = weights
    this.#shared = {
      shape,
      memory,
      past,
      tree: new PrefixTree(() => memory.left),
      runner: new StepRunner({ deterministic, ...(device && { device }) }),
      chooser: new TokenChooser(vocabSize),
      mixer: new Mixer(threads),
      deterministic,
    }
    this.#reader = new TextReader(weights, this.#shared)
  }

  static async open(options: SamplingShardOptions): Promise<SamplingShard> {
    return new SamplingShard(await WeightSets.open(options), options)
  }

  /** Whether no job is under way. */
  get idle(): boolean {
    return this.#sequences.size === 0
  }

  /** Bytes of keys and values that are cached for later prompts. */
  get cachedBytes(): number {
    return this.#shared.tree.elements * Float32Array.BYTES_PER_ELEMENT
  }

  /** Bytes of all keys and values held. */
  get keyValueBytes(): number {
    return this.cachedBytes + this.#shared.memory.held * Float32Array.BYTES_PER_ELEMENT
  }

  /** Holds an adapter under an id; what an id means never changes. */
  loadAdapter(id: string, content: AdapterContent): Promise<void> {
    return this.#weights.load(id, content)
  }

  /** Forgets an adapter that no job uses, and what was computed under it. */
  unloadAdapter(id: string): void {
    this.#weights.unload(id)
    this.#closeLane(id)
    this.#shared.tree.drop(id)
  }

  /** Holds a datastore under an id; what an id means never changes. */
  loadDatastore(id: string, datastore: Datastore): Promise<void> {
    return this.#shared.mixer.load(id, datastore)
  }

  /** Forgets a datastore that no job uses. */
  unloadDatastore(id: string): Promise<void> {
    return this.#shared.mixer.unload(id)
  }

  /** What names the weights loaded under an id wherever they are loaded: see {@link WeightSets.fingerprint}. */
  fingerprint(adapter: string | null): string {
    return this.#weights.fingerprint(adapter)
  }

  /** Reads a part of a text between two ticks: see {@link TextReader}. */
  read(request: ReadRequest): Promise<ReadChunk> {
    return this.#reader.read(request)
  }

  /** Forgets a text that was not read to its end. */
  endReading(reading: number): void {
    this.#reader.end(reading)
  }

  /** @param matcher what holds the job to its grammar: disposed of when the job ends. */
  submit(job: SampleJob, matcher: Matcher | null = null): void {
    const lane = this.#lanes.get(job.adapter) ?? this.#openLane(job.adapter)
    const sequence = new Sequence(job, matcher)
    this.#sequences.set(job.id, { sequence, lane })
    if (job.streamed) this.#streamed.add(sequence)
    lane.enqueue(sequence)
  }

  /** Ends a job early, with the tokens so far, at the next tick; nothing happens when it has ended already. */
  cancel(id: number): void {
    if (this.#sequences.has(id)) this.#cancelled.add(id)
  }

  /** Advances the next adapter's jobs by one run of the model; returns the jobs that ended. */
  async tick(): Promise<readonly SampledTokens[]> {
    const results = [...this.#cancelled].map((id) => this.#finish(id, 'cancelled'))
    const turn = [...this.#lanes].find(([, lane]) => !lane.idle)
    if (turn) {
      const [adapter, lane] = turn
      // To the end of the queue: adapters take turns.
      this.#lanes.delete(adapter)
      this.#lanes.set(adapter, lane)
      for (const { sequence, reason } of await lane.tick()) {
        const { id } = sequence.job
        if (typeof reason === 'string') results.push(this.#finish(id, reason))
        else {
          this.#finish(id, 'cancelled')
          this.#failures.push({ id, error: reason.error })
        }
      }
    }
    return results
  }

  /** Jobs that could not go on since the last call. */
  takeFailures(): readonly FailedJob[] {
    const failures = this.#failures
    this.#failures = []
    return failures
  }

  /** What streamed jobs under way sampled since the last call. What a job sampled last is in its result. */
  takeNews(): readonly SampledToken[] {
    return [...this.#streamed].flatMap((sequence) => sequence.takeNews())
  }

  /** A lane holds decoding memory also when it is idle: those that are make room for a new one. */
  #openLane(adapter: string | null): Lane {
    for (const [other, { idle }] of this.#lanes) if (idle) this.#closeLane(other)
    const lane = new Lane(adapter, this.#weights.get(adapter), this.#shared)
    this.#lanes.set(adapter, lane)
    return lane
  }

  #closeLane(adapter: string | null): void {
    this.#lanes.get(adapter)?.close()
    this.#lanes.delete(adapter)
  }

  #finish(id: number, reason: SampleStopReason): SampledTokens {
    const { sequence, lane } = present(this.#sequences.get(id), `job ${id}`)
    this.#sequences.delete(id)
    this.#streamed.delete(sequence)
    this.#cancelled.delete(id)
    lane.remove(sequence)
    sequence.matcher?.dispose()
    return sequence.result(reason)
  }

  /** Gives up every job, after a run failed; returns their ids. */
  abandon(): readonly number[] {
    const ids = [...this.#sequences.keys()]
    for (const id of ids) this.#finish(id, 'cancelled')
    return ids
  }

  async close(): Promise<void> {
    await this.#shared.mixer.close()
    await this.#weights.close()
  }
}

/** A grid that holds sequences only while a run lasts. */
function scratch(grid: KvGrid): KvHolder {
  return {
    get held() {
      return grid.elements
    },
    get reserved() {
      return grid.elements
    },
    idle: true,
    release: () => grid.release(),
  }
}
