import { present } from '../../../errors/index.ts'
import { keepToOurselves } from '../device/keep-to-ourselves.ts'
import type { Datastore } from '../nearest/datastore.ts'
import type { DatastoreBackend } from '../nearest/datastores.ts'
import type { ReadChunk, ReadRequest } from '../nearest/text-reader.ts'
import type { SamplingBackend } from '../sampling/embedded-sampler.ts'
import type { Listener, SampledTokens, SampleJob } from '../sampling/job.ts'
import type { SamplingShardOptions } from '../sampling/shard.ts'
import type { AdapterContent } from '../train/adapter-content.ts'
import type { TrainingShardPort } from '../train/shard.ts'
import type { Trained } from '../transformer/trained.ts'
import { EngineWorker } from './engine-worker.ts'
import { RemoteTrainingShard } from './remote-training-shard.ts'
import { PrefixRouter } from './router.ts'

/**
 * NVIDIA cards round the factors of float32 products to 10 bits unless they are told not to: gradients would be off by
 * 1e-3. Set the variable to 1 yourself to have it so, and faster.
 */
function keepFullPrecision(): void {
  process.env['NVIDIA_TF32_OVERRIDE'] ??= '0'
}

/** A job as the engine knows it: the pool numbers it, and streams it to who listens. */
export type NewJob = Omit<SampleJob, 'id' | 'streamed'>

/** The engine's workers as one: jobs are spread over them, adapters and trainers live in all of them. */
export class WorkerPool implements SamplingBackend, DatastoreBackend {
  readonly #workers: readonly EngineWorker[]
  readonly #router: PrefixRouter
  #nextJob = 0
  #nextTrainer = 0
  #vocabulary: Promise<unknown> | null = null

  private constructor(workers: readonly EngineWorker[]) {
    this.#workers = workers
    this.#router = new PrefixRouter(workers.length)
  }

  static async open(count: number, options: SamplingShardOptions): Promise<WorkerPool> {
    keepToOurselves()
    if (options.device === 'cuda') keepFullPrecision()
    const workers = Array.from({ length: count }, () => new EngineWorker())
    const pool = new WorkerPool(workers)
    try {
      await Promise.all(workers.map((worker) => worker.request({ kind: 'open', options })))
    } catch (error) {
      await pool.close()
      throw error
    }
    return pool
  }

  /** Samples one continuation; when `signal` fires the result has the tokens so far. */
  async sample(job: NewJob, signal?: AbortSignal, listener?: Listener): Promise<SampledTokens> {
    const { adapter, prompt, maxTokens } = job
    const placement = this.#router.place(adapter, prompt, maxTokens)
    const worker = present(this.#workers[placement.worker], 'the worker')
    const id = this.#nextJob++
    const cancel = () => worker.cancel(id)
    signal?.addEventListener('abort', cancel, { once: true })
    let sampled: Int32Array = new Int32Array(0)
    try {
      const result = await worker.sample({ ...job, id, streamed: listener !== undefined }, listener)
      sampled = result.tokens
      return result
    } finally {
      signal?.removeEventListener('abort', cancel)
      this.#router.release(placement, adapter, prompt, sampled)
    }
  }

  setVocabulary(vocabulary: () => readonly string[]): Promise<unknown> {
    this.#vocabulary ??= this.#tellVocabulary(vocabulary())
    return this.#vocabulary
  }

  async #tellVocabulary(vocabulary: readonly string[]): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.request({ kind: 'set-vocabulary', vocabulary })))
  }

  async loadAdapter(id: string, content: AdapterContent): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.request({ kind: 'load-adapter', id, content })))
  }

  async unloadAdapter(id: string): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.request({ kind: 'unload-adapter', id })))
  }

  async loadDatastore(id: string, datastore: Datastore): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.request({ kind: 'load-datastore', id, datastore })))
  }

  async unloadDatastore(id: string): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.request({ kind: 'unload-datastore', id })))
  }

  async fingerprint(adapter: string | null): Promise<string> {
    return (await this.#reader(0).request({ kind: 'fingerprint', adapter })) as string
  }

  async read(request: ReadRequest): Promise<ReadChunk> {
    return (await this.#reader(request.reading).request({ kind: 'read', request })) as ReadChunk
  }

  async endReading(reading: number): Promise<void> {
    await this.#reader(reading).request({ kind: 'end-reading', reading })
  }

  /** All parts of one text go to one worker. */
  #reader(reading: number): EngineWorker {
    return present(this.#workers[reading % this.#workers.length], 'the worker')
  }

  /** Training shards that start from `values`, one in each worker. */
  async openTrainer(trained: Trained, values: Float32Array): Promise<readonly TrainingShardPort[]> {
    const trainer = this.#nextTrainer++
    const setup = { trained, values }
    await Promise.all(this.#workers.map((worker) => worker.request({ kind: 'open-trainer', trainer, setup })))
    return this.#workers.map((worker) => new RemoteTrainingShard(worker, trainer))
  }

  async close(): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.close()))
  }
}
