import { Worker } from 'node:worker_threads'
import { builtEntry } from '../../../errors/index.ts'
import type { Listener, SampledToken, SampledTokens, SampleJob } from '../sampling/job.ts'
import { EngineClosedError } from './engine-closed-error.ts'
import { type FromWorker, type ToWorker, type WorkerRequest, fromPlainError } from './protocol.ts'
import { WorkerCrashedError } from './worker-crashed-error.ts'

interface Pending<T> {
  readonly resolve: (value: T) => void
  readonly reject: (error: unknown) => void
}

/** A job under way, and how many of its tokens its listener was told. */
interface PendingJob extends Pending<SampledTokens> {
  readonly listener: Listener | undefined
  told: number
}

/** The engine's side of one worker thread: requests and jobs as promises. When the thread ends, all of them reject. */
export class EngineWorker {
  readonly #thread: Worker
  readonly #requests = new Map<number, Pending<unknown>>()
  readonly #jobs = new Map<number, PendingJob>()
  #outbox: SampleJob[] = []
  #nextNumber = 0
  #ended: Error | undefined
  #closing: Promise<void> | undefined

  constructor() {
    this.#thread = new Worker(builtEntry(import.meta.url, './entry.js'))
    this.#thread.on('message', (message: FromWorker) => this.#receive(message))
    this.#thread.on('error', (error) => this.#end(new WorkerCrashedError(error.message, error)))
    this.#thread.on('exit', (code) => {
      this.#end(this.#closing ? new EngineClosedError() : new WorkerCrashedError(`exit code ${code}`))
    })
    // A process whose work is done may end although an engine is open.
    this.#thread.unref()
  }

  /** Whether the thread is gone or going, and with it all that it held. */
  get ended(): boolean {
    return this.#ended !== undefined || this.#closing !== undefined
  }

  /** Asks for something and waits for the answer. Arrays in `transfer` are moved, not copied. */
  async request(request: WorkerRequest, transfer: ArrayBuffer[] = []): Promise<unknown> {
    this.#refuseWhenEnded()
    return this.#ask(request, transfer)
  }

  async #ask(request: WorkerRequest, transfer: ArrayBuffer[] = []): Promise<unknown> {
    const number = this.#nextNumber++
    const answer = new Promise<unknown>((resolve, reject) => this.#requests.set(number, { resolve, reject }))
    this.#keepAlive()
    try {
      this.#send({ kind: 'request', number, request }, transfer)
      return await answer
    } finally {
      this.#requests.delete(number)
      this.#keepAlive()
    }
  }

  /**
   * Samples one continuation. Jobs of one turn of the event loop travel, and start, together. The listener is told every
   * token before the promise resolves; of a job that is not streamed, all at once.
   */
  async sample(job: SampleJob, listener?: Listener): Promise<SampledTokens> {
    this.#refuseWhenEnded()
    const result = new Promise<SampledTokens>((resolve, reject) =>
      this.#jobs.set(job.id, { resolve, reject, listener, told: 0 }),
    )
    this.#keepAlive()
    if (this.#outbox.push(job) === 1) setImmediate(() => this.#flush())
    try {
      return await result
    } finally {
      this.#jobs.delete(job.id)
      this.#keepAlive()
    }
  }

  /** Ends a job early: its result has the tokens so far. */
  cancel(job: number): void {
    this.#flush()
    this.#send({ kind: 'cancel', job })
  }

  /** Ends the thread between two runs of the model; what waits for it is rejected. */
  close(): Promise<void> {
    if (this.#ended) return Promise.resolve()
    this.#closing ??= this.#shutDown()
    return this.#closing
  }

  async #shutDown(): Promise<void> {
    try {
      await this.#ask({ kind: 'close' })
    } finally {
      await this.#thread.terminate()
    }
  }

  #refuseWhenEnded(): void {
    if (this.#ended) throw this.#ended
    if (this.#closing) throw new EngineClosedError()
  }

  #flush(): void {
    const jobs = this.#outbox
    this.#outbox = []
    if (jobs.length > 0) this.#send({ kind: 'sample', jobs })
  }

  #send(message: ToWorker, transfer: ArrayBuffer[] = []): void {
    this.#thread.postMessage(message, transfer)
  }

  #receive(message: FromWorker): void {
    switch (message.kind) {
      case 'done':
        this.#requests.get(message.number)?.resolve(message.result)
        return
      case 'failed':
        this.#requests.get(message.number)?.reject(fromPlainError(message.error))
        return
      case 'news':
        for (const token of message.tokens) this.#tell(token)
        return
      case 'sampled':
        for (const result of message.results) this.#finish(result)
        return
      case 'jobs-failed':
        for (const job of message.jobs) this.#jobs.get(job)?.reject(fromPlainError(message.error))
        return
    }
  }

  #tell({ job: id, token, behaviourLogprob, logprob }: SampledToken): void {
    const job = this.#jobs.get(id)
    if (!job) return
    job.told++
    job.listener?.({ tokens: [token], behaviourLogprobs: [behaviourLogprob], logprobs: [logprob] })
  }

  #finish(result: SampledTokens): void {
    const job = this.#jobs.get(result.id)
    if (!job) return
    if (job.told < result.tokens.length) {
      const rest = (values: Int32Array | Float64Array) => [...values.subarray(job.told)]
      const { tokens, behaviourLogprobs, logprobs } = result
      job.listener?.({ tokens: rest(tokens), behaviourLogprobs: rest(behaviourLogprobs), logprobs: rest(logprobs) })
    }
    job.resolve(result)
  }

  #end(error: Error): void {
    this.#ended ??= error
    for (const { reject } of [...this.#requests.values(), ...this.#jobs.values()]) reject(this.#ended)
  }

  /** The process stays alive for as long as somebody waits for this worker. */
  #keepAlive(): void {
    if (this.#requests.size + this.#jobs.size > 0) this.#thread.ref()
    else this.#thread.unref()
  }
}
