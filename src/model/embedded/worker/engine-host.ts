import { InvariantError, present } from '../../../errors/index.ts'
import type { BaseWeights } from '../transformer/base-weights.ts'
import type { Matcher } from '../grammar/matcher.ts'
import { Matchers } from '../grammar/matchers.ts'
import type { SampleJob } from '../sampling/job.ts'
import { SamplingShard } from '../sampling/shard.ts'
import { PassSessions } from '../train/pass-sessions.ts'
import { TrainingShard } from '../train/training-shard.ts'
import {
  type FromWorker,
  type ToWorker,
  type TrainingCall,
  type WorkerRequest,
  arraysIn,
  toPlainError,
} from './protocol.ts'

/**
 * A worker's side of the protocol: a sampling shard and training shards over one copy of the weights. Messages are
 * taken between runs of the model, in their order.
 */
export class EngineHost {
  readonly #post: (message: FromWorker, transfer: ArrayBuffer[]) => void
  readonly #inbox: ToWorker[] = []
  readonly #matchers = new Matchers()
  readonly #trainers = new Map<number, TrainingShard>()
  #training: { readonly model: BaseWeights; readonly sessions: PassSessions } | undefined
  #sampling: SamplingShard | undefined
  #running = false

  constructor(post: (message: FromWorker, transfer: ArrayBuffer[]) => void) {
    this.#post = post
  }

  receive(message: ToWorker): void {
    this.#inbox.push(message)
    if (!this.#running) void this.#run()
  }

  async #run(): Promise<void> {
    this.#running = true
    for (;;) {
      for (let message = this.#inbox.shift(); message; message = this.#inbox.shift()) await this.#handle(message)
      if (this.#sampling && !this.#sampling.idle) await this.#tick(this.#sampling)
      // Lets messages in that arrived during the run.
      await new Promise((resolve) => setImmediate(resolve))
      if (this.#inbox.length === 0 && (this.#sampling?.idle ?? true)) break
    }
    this.#running = false
  }

  async #handle(message: ToWorker): Promise<void> {
    if (message.kind === 'cancel') return this.#sampling?.cancel(message.job)
    if (message.kind === 'sample') {
      const shard = present(this.#sampling, 'the sampling shard')
      for (const job of message.jobs) await this.#submit(shard, job)
      return
    }
    const { number, request } = message
    try {
      const result = await this.#serve(request)
      const given = request.kind === 'train' || request.kind === 'read'
      this.#post({ kind: 'done', number, result }, given ? arraysIn(result) : [])
    } catch (error) {
      this.#post({ kind: 'failed', number, error: toPlainError(error) }, [])
    }
  }

  /** A job that cannot start fails alone. */
  async #submit(shard: SamplingShard, job: SampleJob): Promise<void> {
    let matcher: Matcher | null = null
    try {
      matcher = await this.#matchers.open(job)
      shard.submit(job, matcher)
    } catch (error) {
      matcher?.dispose()
      this.#post({ kind: 'jobs-failed', jobs: [job.id], error: toPlainError(error) }, [])
    }
  }

  async #tick(shard: SamplingShard): Promise<void> {
    try {
      const results = await shard.tick()
      const tokens = shard.takeNews()
      if (tokens.length > 0) this.#post({ kind: 'news', tokens }, [])
      if (results.length > 0) this.#post({ kind: 'sampled', results }, arraysIn(results))
    } catch (error) {
      this.#post({ kind: 'jobs-failed', jobs: shard.abandon(), error: toPlainError(error) }, [])
    }
    for (const { id, error } of shard.takeFailures())
      this.#post({ kind: 'jobs-failed', jobs: [id], error: toPlainError(error) }, [])
  }

  async #serve(request: WorkerRequest): Promise<unknown> {
    switch (request.kind) {
      case 'open':
        this.#training = {
          model: request.options.model,
          sessions: new PassSessions(request.options.model, request.options),
        }
        this.#sampling = await SamplingShard.open(request.options)
        return
      case 'set-vocabulary':
        return this.#matchers.setVocabulary(request.vocabulary)
      case 'load-adapter':
        // Sampling comes next.
        await this.#training?.sessions.giveBackMemory()
        return this.#shard.loadAdapter(request.id, request.content)
      case 'unload-adapter':
        return this.#shard.unloadAdapter(request.id)
      case 'load-datastore':
        return this.#shard.loadDatastore(request.id, request.datastore)
      case 'unload-datastore':
        return this.#shard.unloadDatastore(request.id)
      case 'fingerprint':
        return this.#shard.fingerprint(request.adapter)
      case 'read':
        return this.#shard.read(request.request)
      case 'end-reading':
        return this.#shard.endReading(request.reading)
      case 'open-trainer':
        this.#trainers.set(
          request.trainer,
          new TrainingShard({ ...request.setup, ...present(this.#training, 'the model') }),
        )
        return
      case 'train':
        return train(present(this.#trainers.get(request.trainer), `trainer ${request.trainer}`), request.call)
      case 'close-trainer':
        await this.#trainers.get(request.trainer)?.close()
        this.#trainers.delete(request.trainer)
        return
      case 'close':
        return this.#close()
    }
  }

  /** From here on nothing runs: the thread must not be ended inside of a run, which would take the process with it. */
  async #close(): Promise<void> {
    const sampling = this.#sampling
    this.#sampling = undefined
    for (const trainer of this.#trainers.values()) await trainer.close()
    this.#trainers.clear()
    await sampling?.close()
  }

  get #shard(): SamplingShard {
    if (!this.#sampling) throw new InvariantError('the worker was not opened')
    return this.#sampling
  }
}

function train(shard: TrainingShard, call: TrainingCall): Promise<unknown> {
  switch (call.method) {
    case 'forwardBackward':
      return shard.forwardBackward(...call.args)
    case 'forward':
      return shard.forward(...call.args)
    case 'addSquares':
      return shard.addSquares(...call.args)
    case 'takeSquares':
      return shard.takeSquares()
    case 'takeGradient':
      return shard.takeGradient()
    case 'optimStep':
      return shard.optimStep(...call.args)
    case 'setAuxiliary':
      return shard.setAuxiliary(...call.args)
    case 'setValues':
      return shard.setValues(...call.args)
    case 'state':
      return shard.state()
    case 'setState':
      return shard.setState(...call.args)
    case 'hold':
      return shard.hold(...call.args)
    case 'remember':
      return shard.remember(...call.args)
    case 'collect':
      return shard.collect(...call.args)
    case 'held':
      return shard.held()
  }
}
