import type { BlobHash, ModelService, Trainer } from '../../core/index.ts'
import { RatchetError } from '../../errors/index.ts'
import type { Outcome, Settled, StoredModel, StoredRequest } from '../journal/events.ts'
import { barrierOf, type TrainerState } from '../journal/state.ts'
import { carryOut, type Done, type WorkPlace } from './carry-out.ts'
import { nextStep, requestsOf, sameStep, type Step } from './steps.ts'
import type { Suspects } from './suspects.ts'

export interface LaneOptions extends WorkPlace {
  readonly service: Pick<ModelService, 'trainer'>
  readonly state: TrainerState
  readonly suspects: Suspects
  readonly blob: (hash: BlobHash) => Promise<Uint8Array>
  readonly settle: (event: Omit<Settled, 'type' | 'at'>) => Promise<void>
  /** Writes down that requests were begun and are not done. */
  readonly putBack: (ids: readonly string[]) => Promise<void>
  /** Told of what no request is to blame for: what waits is done after the next start. */
  readonly onFatal: (error: unknown) => void
  /** Milliseconds of work after which an optimizer step is followed by a snapshot. */
  readonly snapshotMs: number
}

/**
 * One model: its requests, done one step after another in the order of their numbers. After a start the training state is
 * made again from the last snapshot and what was done since, which equal data in equal company do to the bit.
 */
export class ModelLane {
  readonly #model: StoredModel
  readonly #options: LaneOptions
  #trainer: Promise<Trainer> | null = null
  #busy: Promise<void> | null = null
  #workedMs = 0
  #stopped = false
  #barrier = -1

  constructor(model: StoredModel, options: LaneOptions) {
    this.#model = model
    this.#options = options
  }

  /** The number of the step under way, which no smaller one may come before any more; -1: passes, or nothing. */
  get barrier(): number {
    return this.#barrier
  }

  /** Does what waits, unless it is about it. */
  wake(): void {
    if (this.#busy !== null || this.#stopped) return
    this.#busy = this.#work()
      .catch((error: unknown) => {
        this.#stopped = true
        // What a session that ended meanwhile had kept is gone.
        if (this.#options.state.models.has(this.#model.id)) this.#options.onFatal(error)
      })
      .finally(() => {
        this.#busy = null
        if (this.#waiting().length > 0) this.wake()
      })
  }

  /** After the step under way, nothing more is done. */
  async stop(): Promise<void> {
    this.#stopped = true
    await this.#busy
    await this.#trainer?.then(
      (trainer) => trainer.close(),
      () => {},
    )
  }

  async #work(): Promise<void> {
    const { suspects } = this.#options
    for (let step = this.#next(); step !== null && !this.#stopped; step = this.#next()) {
      const now = step
      // From here on nothing is taken that comes before it; what was taken already may still be on its way to the disk.
      this.#barrier = barrierOf(requestsOf(now)[0])
      // A model is made again from what went well before: whether that ends the process is no fault of the next request.
      if (!this.#isNew()) await suspects.beside(() => this.#opened())
      await suspects.attempt(
        requestsOf(now),
        () => (this.#isFirst(now) ? this.#do(now) : this.#options.putBack(requestsOf(now).map(({ id }) => id))),
        (outcome) => this.#options.settle(refusal(now, outcome)),
      )
      this.#barrier = -1
    }
  }

  /** Passes add up in any order; of what is done alone none may be before it. */
  #isFirst(step: Step): boolean {
    return step.kind === 'passes' || this.#waiting()[0]?.id === step.request.id
  }

  async #do(step: Step): Promise<void> {
    const trainer = await this.#opened()
    const began = performance.now()
    const done = await this.#tried(step, trainer)
    this.#workedMs += performance.now() - began
    await this.#options.settle(await this.#withSnapshot(done, step, trainer))
    if (done.unloaded === undefined) return
    this.#stopped = true
    await trainer.close()
  }

  #opened(): Promise<Trainer> {
    this.#trainer ??= this.#open()
    return this.#trainer
  }

  /** Nothing was done with it yet. */
  #isNew(): boolean {
    const held = this.#options.state.models.get(this.#model.id)
    return held?.snapshot == null && held?.since.length === 0
  }

  #next(): Step | null {
    return nextStep(this.#waiting(), (id) => this.#options.suspects.has(id))
  }

  async #open(): Promise<Trainer> {
    const { service, state, blob } = this.#options
    const { id, lora, seed } = this.#model
    const trainer = await service.trainer(lora, seed)
    const held = state.models.get(id)
    if (held?.snapshot) await trainer.loadState(await blob(held.snapshot))
    for (const ids of held?.since ?? []) {
      const step = sameStep(this.#requests(ids))
      if (step !== null && moves(step)) await this.#tried(step, trainer)
    }
    return trainer
  }

  /** What comes of a step, a requestError by the trainer too; what else goes wrong is nobody's request. */
  async #tried(step: Step, trainer: Trainer): Promise<Done> {
    try {
      return await carryOut(step, trainer, this.#model, this.#options)
    } catch (error) {
      if (!isRefusal(error)) throw error
      const message = `${error.message} ${error.hint}`
      return refusal(step, { kind: 'failed', message, category: 'user', code: error.code })
    }
  }

  /** Between an optimizer step and the next pass the whole training state is its weights, its moments and its count. */
  async #withSnapshot(done: Done, step: Step, trainer: Trainer): Promise<Done> {
    if (step.kind !== 'one' || done.requests[0]?.outcome.kind !== 'plain') return done
    const loaded = step.work.kind === 'load_weights'
    const due = step.work.kind === 'optim_step' && this.#workedMs >= this.#options.snapshotMs
    if (!loaded && !due) return done
    this.#workedMs = 0
    const state = await this.#options.keep(await trainer.saveState())
    return { ...done, snapshot: { model: this.#model.id, state } }
  }

  #waiting(): readonly StoredRequest[] {
    return this.#requests(this.#options.state.models.get(this.#model.id)?.waiting ?? [])
  }

  #requests(ids: readonly string[]): readonly StoredRequest[] {
    return ids.flatMap((id) => this.#options.state.requests.get(id)?.request ?? [])
  }
}

const refusal = (step: Step, outcome: Outcome): Done => ({
  requests: requestsOf(step).map(({ id }) => ({ id, outcome })),
})

/** Whether a step changes the training state. Loading is followed by a snapshot. */
const moves = (step: Step): boolean => step.kind === 'passes' || step.work.kind === 'optim_step'

/** What a trainer refuses, or drops because training diverged: the same again after every start. */
const isRefusal = (error: unknown): error is RatchetError =>
  RatchetError.is(error) &&
  (error.code === 'model/non-finite-gradient' || /^(?:model\/(?:invalid|state|gradient)|trainer\/)/.test(error.code))
