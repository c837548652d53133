import { z } from 'zod'
import type { textKind } from '../../agent/index.ts'
import {
  type Learning,
  parseInput,
  type Rng,
  type SavedLearning,
  type TextCritique,
  type ValueOf,
} from '../../core/index.ts'
import { affordable } from './budget.ts'
import { exemplarsIn, fitting, withExemplars } from './exemplar-block.ts'
import { ExemplarPool, SavedPool } from './exemplar-pool.ts'
import type { CompleteExemplars } from './exemplars-options.ts'
import { type MeasuringSplit, type PractisingSeat, splitTasks } from './measuring.ts'
import { type Bounds, Refusals, refusalOf } from './refusal.ts'
import { meanOf, pairedGain, SavedScores, Scores } from './scores.ts'
import { onePerEpisode, type Shown } from './shown.ts'

const Saved = z.strictObject({
  pool: SavedPool,
  best: z.string(),
  proposals: z.int().nonnegative(),
  accepted: z.int().nonnegative(),
  scores: SavedScores,
  refusals: z.record(z.string(), z.number()),
})

/** Training tasks that are attempted before the first proposal, for each exemplar wanted. */
const firstLook = 4

/** Exemplars that are measured on tasks before they serve. */
export class PractisedExemplars implements Learning<typeof textKind> {
  readonly #seat: PractisingSeat
  readonly #options: CompleteExemplars
  readonly #tasks: MeasuringSplit
  readonly #prefix: string
  readonly #affords: number
  readonly #scores: Scores
  readonly #refusals: Refusals
  readonly #bounds: Bounds
  readonly #pool: ExemplarPool
  #best: string
  #proposals: number
  #accepted: number

  constructor(seat: PractisingSeat, saved: SavedLearning | null, options: CompleteExemplars) {
    const { count, evaluations, maxBytes, measuredBy } = options
    const state = saved ? parseInput(Saved, saved.state, 'the state of exemplars()') : null
    this.#seat = seat
    this.#options = options
    this.#tasks = splitTasks(seat.tasks ?? [], measuredBy, seat.rng('measure'))
    const { length } = this.#tasks.measure
    const first = Math.min(firstLook * count, this.#tasks.train.length)
    this.#affords = affordable(evaluations, { start: length + first, proposal: length + count })
    this.#prefix = exemplarsIn(seat.value.text).prefix
    this.#scores = new Scores(seat.evaluate, evaluations, state?.scores ?? null)
    this.#refusals = new Refusals(state?.refusals)
    this.#bounds = { served: seat.value.text, leaks: seat.leaks, maxBytes }
    const except = new Set<string>(this.#tasks.measure.map(({ id }) => id))
    const rules = { ...options, ...this.#bounds, most: 16 * count, except, refusals: this.#refusals }
    this.#pool = new ExemplarPool(rules, state?.pool)
    this.#best = state?.best ?? seat.value.text
    this.#proposals = state?.proposals ?? 0
    this.#accepted = state?.accepted ?? 0
  }

  async bound(): Promise<ValueOf<typeof textKind>> {
    return { text: this.#best }
  }

  async step(deposits: readonly TextCritique[]) {
    this.#pool.addEpisodes(onePerEpisode(deposits))
    const { measure } = this.#tasks
    if (this.#scores.spent === 0) {
      await this.#scores.of(this.#best, measure)
      await this.#bootstrap(firstLook * this.#options.count, this.#seat.rng('first'))
    }
    for (let i = 0; i < this.#options.perUpdate; i++) {
      if (!this.#scores.affordsMore(measure.length + this.#options.count)) break
      const rng = this.#seat.rng('proposal', this.#proposals++)
      await this.#bootstrap(this.#options.count, rng)
      await this.#try(this.#drawn(rng))
    }
    const score = meanOf(
      (await this.#scores.of(this.#best, this.#scores.cost(this.#best, measure) === 0 ? measure : [])).earned,
    )
    return {
      affords: this.#affords,
      spent: this.#scores.spent,
      proposals: this.#proposals,
      accepted: this.#accepted,
      pool: this.#pool.exemplars.length,
      ...(score !== null && { score }),
      ...this.#refusals.told(),
    }
  }

  async save(): Promise<SavedLearning> {
    return {
      state: {
        pool: [...this.#pool.exemplars],
        best: this.#best,
        proposals: this.#proposals,
        accepted: this.#accepted,
        scores: this.#scores.save(),
        refusals: this.#refusals.counts,
      },
    }
  }

  async propose(): Promise<ValueOf<typeof textKind> | null> {
    return this.#best === this.#seat.value.text ? null : { text: this.#best }
  }

  /**
   * Attempts so many training tasks of which the pool has nothing: with the text that serves first, whose successes are of all
   * sorts, and then with the best, which succeeds at harder ones, and at those that are like its exemplars.
   */
  async #bootstrap(attempts: number, rng: Rng): Promise<void> {
    const shuffled = rng.shuffle(this.#tasks.train).filter(({ id }) => !this.#pool.has(id))
    const untried = (text: string) => shuffled.filter(({ id }) => !this.#scores.has(text, id))
    const served = this.#seat.value.text
    const text = untried(served).length > 0 ? served : this.#best
    const { fresh } = await this.#scores.of(text, untried(text).slice(0, attempts))
    this.#pool.addAttempts(fresh)
  }

  /** A set by chance, or every other time the best one with one exchanged. */
  #drawn(rng: Rng): readonly Shown[] {
    const { count } = this.#options
    const drawn = this.#pool.draw(count, rng)
    const { exemplars: serving } = exemplarsIn(this.#best)
    if (serving.length < count || rng.next() < 0.5) return drawn
    const place = rng.int(serving.length)
    const other = drawn.find(({ asked }) => serving.every((one) => one.asked !== asked))
    return other === undefined ? drawn : serving.map((one, i) => (i === place ? other : one))
  }

  /** Measures a set, and takes it where the same tasks earn more. */
  async #try(set: readonly Shown[]): Promise<void> {
    const fits = fitting(this.#prefix, set, this.#options.maxBytes)
    const text = withExemplars(this.#prefix, fits)
    const known = this.#scores.knows(text) ? 'unchanged' : refusalOf(text, this.#bounds)
    const refusal = fits.length === 0 && set.length > 0 ? 'tooLong' : known
    if (refusal !== null) return this.#refusals.add(refusal)
    const { measure } = this.#tasks
    const { earned } = await this.#scores.of(text, measure)
    const before = await this.#scores.of(this.#best, measure)
    if ((pairedGain(before.earned, earned) ?? 0) <= 0) return
    this.#best = text
    this.#accepted++
  }
}
