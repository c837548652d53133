import { z } from 'zod'
import type { textKind } from '../../agent/index.ts'
import {
  type Learning,
  overridesInstructions,
  parseInput,
  type SavedLearning,
  type TextCritique,
  type ValueOf,
} from '../../core/index.ts'
import { affordable } from './budget.ts'
import { type Bullet, bulletsIn, withBullets } from './bullets.ts'
import { capped, merged, type PlaybookCap } from './delta.ts'
import { type Lesson, lessonsOfAttempts, lessonsOfEpisodes } from './material.ts'
import { type MeasuringSplit, type TextSeat, splitTasks } from './measuring.ts'
import type { CompletePlaybook } from './playbook-options.ts'
import { deltaFor, readDelta } from './playbook-prompt.ts'
import { type Bounds, type Refusal, Refusals, refusalOf } from './refusal.ts'
import { pairedGain, SavedScores, Scores } from './scores.ts'
import { onePerEpisode } from './shown.ts'
import { Writer } from './writer.ts'

const SavedBullet = z.strictObject({ id: z.string(), text: z.string(), helpful: z.number(), harmful: z.number() })
const Saved = z.strictObject({
  bullets: z.array(SavedBullet),
  text: z.string(),
  deltas: z.int().nonnegative(),
  answered: z.int().nonnegative(),
  scores: SavedScores.nullable(),
  refusals: z.record(z.string(), z.number()),
})

/** What measures a playbook; there is nothing where nothing can be attempted. */
type Practice = MeasuringSplit & { readonly scores: Scores; readonly affords: number }

/** Sessions that a writer reads at once, at most. */
const mostLessons = 24

/** A playbook that deltas change. */
export class KeptPlaybook implements Learning<typeof textKind> {
  readonly #seat: TextSeat
  readonly #options: CompletePlaybook
  readonly #prefix: string
  readonly #cap: PlaybookCap
  readonly #practice: Practice | null
  readonly #writer: Writer
  readonly #refusals: Refusals
  readonly #bounds: Bounds
  /** With today's counters. */
  #bullets: readonly Bullet[]
  /** The exact bytes that act. Counters in them are of when its words changed last. */
  #text: string
  #deltas: number

  constructor(seat: TextSeat, saved: SavedLearning | null, options: CompletePlaybook) {
    const state = saved ? parseInput(Saved, saved.state, 'the state of playbook()') : null
    const { prefix, bullets } = bulletsIn(seat.value.text)
    const fits = (some: readonly Bullet[]) => Buffer.byteLength(withBullets(prefix, some)) <= options.maxBytes
    this.#seat = seat
    this.#options = options
    this.#prefix = prefix
    this.#cap = { bullets: options.bullets, bulletBytes: options.bulletBytes, fits }
    this.#practice = practiceOf(seat, options, state?.scores ?? null)
    this.#writer = new Writer(options.writer, options.maxTokens, state?.answered)
    this.#refusals = new Refusals(state?.refusals)
    this.#bounds = { served: seat.value.text, leaks: seat.leaks, maxBytes: options.maxBytes }
    this.#bullets = state?.bullets ?? capped(bullets, this.#cap)
    this.#text = state?.text ?? seat.value.text
    this.#deltas = state?.deltas ?? 0
  }

  async bound(): Promise<ValueOf<typeof textKind>> {
    return { text: this.#text }
  }

  async step(deposits: readonly TextCritique[]) {
    const episodes = onePerEpisode(deposits)
    const read = this.#practice === null ? episodes : episodes.filter(({ critique }) => critique !== null)
    const lessons = lessonsOfEpisodes(read, { ...this.#options, most: mostLessons })
    if (this.#practice === null) await this.#change(lessons)
    else for (let i = 0; i < this.#options.perUpdate; i++) await this.#practise(this.#practice, lessons)
    const spent = this.#practice && { affords: this.#practice.affords, spent: this.#practice.scores.spent }
    return { ...spent, deltas: this.#deltas, bullets: this.#bullets.length, ...this.#refusals.told() }
  }

  async save(): Promise<SavedLearning> {
    return {
      state: {
        bullets: this.#bullets.map((bullet) => ({ ...bullet })),
        text: this.#text,
        deltas: this.#deltas,
        answered: this.#writer.answered,
        scores: this.#practice?.scores.save() ?? null,
        refusals: this.#refusals.counts,
      },
    }
  }

  async propose(): Promise<ValueOf<typeof textKind> | null> {
    return this.#text === this.#seat.value.text ? null : { text: this.#text }
  }

  /** One delta, from training tasks that were not attempted with this text before, while the budget lasts. */
  async #practise({ scores, train, measure }: Practice, criticised: readonly Lesson[]): Promise<void> {
    const { minibatch } = this.#options
    if (!scores.affordsMore(scores.cost(this.#text, measure) + minibatch + measure.length)) return
    const shuffled = this.#seat.rng('delta', this.#deltas).shuffle(train)
    const tasks = shuffled.filter(({ id }) => !scores.has(this.#text, id)).slice(0, minibatch)
    const { fresh } = await scores.of(this.#text, tasks)
    await this.#change([...lessonsOfAttempts(fresh, this.#options), ...criticised])
  }

  /** Asks for one delta and merges it; the text changes where its words do, and where it may. */
  async #change(lessons: readonly Lesson[]): Promise<void> {
    if (lessons.length === 0) return
    this.#deltas++
    const delta = readDelta(await this.#writer.write(deltaFor(this.#prefix, this.#bullets, lessons)))
    if (delta === null) return this.#refusals.add('unreadable')
    const counts = { ...delta, add: [], edit: [], remove: [] }
    const changed = merged(this.#bullets, delta, this.#cap)
    const refusal = wordsOf(changed) === wordsOf(this.#bullets) ? null : await this.#refused(changed)
    if (refusal !== null) this.#refusals.add(refusal)
    // What was said to have helped or harmed counts, whatever becomes of new words.
    if (refusal !== null) this.#bullets = merged(this.#bullets, counts, this.#cap)
    else {
      if (wordsOf(changed) !== wordsOf(this.#bullets)) this.#text = withBullets(this.#prefix, changed)
      this.#bullets = changed
    }
  }

  async #refused(changed: readonly Bullet[]): Promise<Refusal | null> {
    const text = withBullets(this.#prefix, changed)
    const known = new Set(this.#bullets.map((bullet) => bullet.text))
    const screened = changed.some((bullet) => !known.has(bullet.text) && overridesInstructions(bullet.text))
    const refusal = screened ? 'instructs' : refusalOf(text, this.#bounds)
    if (refusal !== null || this.#practice === null) return refusal
    const { scores, measure } = this.#practice
    const before = await scores.of(this.#text, measure)
    const after = await scores.of(text, measure)
    const gain = pairedGain(before.earned, after.earned)
    return gain === null || gain < 0 ? 'worse' : null
  }
}

const wordsOf = (bullets: readonly Bullet[]): string => JSON.stringify(bullets.map(({ id, text }) => [id, text]))

function practiceOf(
  seat: TextSeat,
  { measuredBy, evaluations, minibatch }: CompletePlaybook,
  saved: unknown,
): Practice | null {
  const { evaluate, tasks = [] } = seat
  if (evaluate === null) return null
  const split = splitTasks(tasks, measuredBy, seat.rng('measure'))
  const { length } = split.measure
  const affords = affordable(evaluations, { start: length, proposal: minibatch + length })
  return { ...split, scores: new Scores(evaluate, evaluations, saved), affords }
}
