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
import { present } from '../../errors/index.ts'
import { affordable } from './budget.ts'
import type { Components } from './component.ts'
import { type Lesson, lessonsOfAttempts, lessonsOfEpisodes } from './material.ts'
import { type MeasuringSplit, type PractisingSeat, splitTasks } from './measuring.ts'
import { drawnByWeight, paretoWeights } from './pareto.ts'
import type { CompleteReflect } from './reflect-options.ts'
import { reflectionOn } from './reflect-prompt.ts'
import { type Bounds, Refusals } from './refusal.ts'
import { rewritten } from './rewritten.ts'
import { type Earned, meanOf, pairedGain, SavedScores, Scores } from './scores.ts'
import { onePerEpisode } from './shown.ts'
import { Writer } from './writer.ts'

const Saved = z.strictObject({
  candidates: z.array(z.string()).min(1),
  proposals: z.int().nonnegative(),
  answered: z.int().nonnegative(),
  scores: SavedScores,
  refusals: z.record(z.string(), z.number()),
})

/** Candidates on a Pareto front, changed one part at a time. */
export class Evolution implements Learning<typeof textKind> {
  readonly #seat: PractisingSeat
  readonly #options: CompleteReflect
  readonly #components: Components
  readonly #tasks: MeasuringSplit
  readonly #affords: number
  readonly #scores: Scores
  readonly #refusals: Refusals
  readonly #bounds: Bounds
  readonly #writer: Writer
  /** The text that serves is the first. */
  readonly #candidates: string[]
  #proposals: number

  constructor(
    seat: PractisingSeat,
    saved: SavedLearning | null,
    { options, components }: { readonly options: CompleteReflect; readonly components: Components },
  ) {
    const { evaluations, minibatch, measuredBy, maxBytes, maxTokens, writer } = options
    const state = saved ? parseInput(Saved, saved.state, 'the state of reflect()') : null
    this.#seat = seat
    this.#options = options
    this.#components = components
    this.#tasks = splitTasks(seat.tasks ?? [], measuredBy, seat.rng('measure'))
    const { length } = this.#tasks.measure
    this.#affords = affordable(evaluations, { start: length, proposal: 2 * minibatch + length })
    this.#scores = new Scores(seat.evaluate, evaluations, state?.scores ?? null)
    this.#refusals = new Refusals(state?.refusals)
    this.#bounds = { served: seat.value.text, leaks: seat.leaks, maxBytes }
    this.#writer = new Writer(writer, maxTokens, state?.answered)
    this.#candidates = state?.candidates ?? [seat.value.text]
    this.#proposals = state?.proposals ?? 0
  }

  async bound(): Promise<ValueOf<typeof textKind>> {
    return { text: (await this.#best()).text }
  }

  async step(deposits: readonly TextCritique[]) {
    const { measure } = this.#tasks
    const withWords = onePerEpisode(deposits).filter(({ critique }) => critique !== null)
    const criticised = lessonsOfEpisodes(withWords, { ...this.#options, most: this.#options.minibatch })
    for (let i = 0; i < this.#options.perUpdate; i++) {
      const { minibatch } = this.#options
      const start = this.#scores.cost(this.#seat.value.text, measure)
      if (!this.#scores.affordsMore(start + 2 * minibatch + measure.length)) break
      await this.#scores.of(this.#seat.value.text, measure)
      await this.#evolve(this.#seat.rng('proposal', this.#proposals++), criticised)
    }
    const { mean } = await this.#best()
    return {
      affords: this.#affords,
      spent: this.#scores.spent,
      proposals: this.#proposals,
      candidates: this.#candidates.length,
      ...(mean !== null && { score: mean }),
      ...this.#refusals.told(),
    }
  }

  async save(): Promise<SavedLearning> {
    return {
      state: {
        candidates: [...this.#candidates],
        proposals: this.#proposals,
        answered: this.#writer.answered,
        scores: this.#scores.save(),
        refusals: this.#refusals.counts,
      },
    }
  }

  async propose(): Promise<ValueOf<typeof textKind> | null> {
    const { text } = await this.#best()
    return text === this.#seat.value.text ? null : { text }
  }

  /** One proposal: from a parent on the front, by what a few tasks show, accepted where these earn more. */
  async #evolve(rng: Rng, criticised: readonly Lesson[]): Promise<void> {
    const parent = await this.#parent(rng)
    const tasks = this.#drawn(parent, rng)
    const before = await this.#scores.of(parent, tasks)
    if (tasks.every(({ id }) => (before.earned.get(id) ?? Number.NEGATIVE_INFINITY) >= this.#options.success)) return
    const part = (this.#proposals - 1) % this.#components.count
    const lessons = [...lessonsOfAttempts(before.fresh, this.#options), ...criticised]
    if (lessons.length === 0) return
    const answer = await this.#writer.write(reflectionOn(this.#components.part(parent, part), parent, lessons))
    const knows = (text: string) => this.#scores.knows(text)
    const made = rewritten(answer, { components: this.#components, parent, part, bounds: this.#bounds, knows })
    if ('refusal' in made) return this.#refusals.add(made.refusal)
    const after = await this.#scores.of(made.text, tasks)
    if ((pairedGain(before.earned, after.earned) ?? 0) <= 0) return this.#refusals.add('worse')
    await this.#scores.of(made.text, this.#tasks.measure)
    this.#candidates.push(made.text)
  }

  async #parent(rng: Rng): Promise<string> {
    const weights = paretoWeights(
      await this.#measured(),
      this.#tasks.measure.map(({ id }) => id),
    )
    return present(this.#candidates[drawnByWeight(weights, rng.next())], 'a candidate')
  }

  /** Training tasks: first those of which it is not known what the text earns, so that there is something to read. */
  #drawn(text: string, rng: Rng) {
    const shuffled = rng.shuffle(this.#tasks.train)
    const [unknown, known] = [false, true].map((isKnown) =>
      shuffled.filter(({ id }) => this.#scores.has(text, id) === isKnown),
    )
    return [...(unknown ?? []), ...(known ?? [])].slice(0, this.#options.minibatch)
  }

  /** What is known of the candidates: all of it, once the first step was taken. */
  async #measured(): Promise<readonly Earned[]> {
    const { measure } = this.#tasks
    if (this.#scores.cost(this.#seat.value.text, measure) > 0) return []
    const measured: Earned[] = []
    for (const text of this.#candidates) measured.push((await this.#scores.of(text, measure)).earned)
    return measured
  }

  /** The candidate that gains most over what serves; of equals the earliest. */
  async #best(): Promise<{ readonly text: string; readonly mean: number | null }> {
    const [served, ...others] = await this.#measured()
    let best = { text: this.#seat.value.text, gain: 0, mean: served ? meanOf(served) : null }
    for (const [i, earned] of others.entries()) {
      const gain = served ? (pairedGain(served, earned) ?? 0) : 0
      if (gain > best.gain) best = { text: present(this.#candidates[i + 1], 'a candidate'), gain, mean: meanOf(earned) }
    }
    return best
  }
}
