import { z } from 'zod'
import type { LeakCheck, Rng, ScoredTrajectory, TextCritique, Trajectory } from '../../core/index.ts'
import { type Sessions, shareable } from './consent.ts'
import { isRenderable } from './exemplar-block.ts'
import type { Refusals } from './refusal.ts'
import { instructsModel } from './screen.ts'
import { attemptWentWell, episodeWentWell, type Show, type Shown } from './shown.ts'

const Exemplar = z.strictObject({
  /** What it is one of: its task, or for people's sessions what was asked. */
  of: z.string(),
  asked: z.string(),
  answered: z.string(),
  /** How good its episode was; only compared with others of its source. */
  worth: z.number(),
})
/** An episode that went well, as others may read it. */
export type Exemplar = z.infer<typeof Exemplar>
export const SavedPool = z.array(Exemplar)

/** What may enter a pool, and in which words. */
export interface PoolRules {
  /** What an episode that went well earned, at least. */
  readonly success: number
  readonly show: Show
  readonly sessions: Sessions | undefined
  readonly leaks: LeakCheck | undefined
  readonly served: string
  /** Exemplars at most. */
  readonly most: number
  /** Tasks that measure: none of them is an exemplar. */
  readonly except: ReadonlySet<string>
  readonly refusals: Refusals
}

/** Own successes: one of each task, the one that was worth most. */
export class ExemplarPool {
  readonly #rules: PoolRules
  #exemplars: readonly Exemplar[]

  constructor(rules: PoolRules, saved: readonly Exemplar[] = []) {
    this.#rules = rules
    this.#exemplars = saved
  }

  get exemplars(): readonly Exemplar[] {
    return this.#exemplars
  }

  has(of: string): boolean {
    return this.#exemplars.some((one) => one.of === of)
  }

  /** Takes in the attempts that went well. */
  addAttempts(attempts: readonly ScoredTrajectory[]): void {
    for (const attempt of attempts) {
      if (attemptWentWell(attempt, this.#rules.success)) this.#add(attempt.trajectory, attempt.reward.value ?? 0)
    }
  }

  /** Takes in the episodes of a batch that went well. */
  addEpisodes(episodes: readonly TextCritique[]): void {
    for (const episode of episodes) {
      const { trajectory, utility, advantage } = episode
      if (episodeWentWell(episode, this.#rules.success)) this.#add(trajectory, utility ?? advantage ?? 0)
    }
  }

  /** So many by chance, of answers that the set has least of: where few answers are possible, each is shown alike often. */
  draw(count: number, rng: Rng): readonly Exemplar[] {
    const left = [...rng.shuffle(this.#exemplars)]
    const shown = new Map<string, number>()
    const set: Exemplar[] = []
    while (set.length < count && left.length > 0) {
      const rarity = ({ answered }: Exemplar) => shown.get(answered) ?? 0
      const next = left.reduce((rarest, one) => (rarity(one) < rarity(rarest) ? one : rarest))
      left.splice(left.indexOf(next), 1)
      shown.set(next.answered, rarity(next) + 1)
      set.push(next)
    }
    return set
  }

  #add(trajectory: Trajectory, worth: number): void {
    if (this.#rules.except.has(trajectory.task.id)) return
    const shown = this.#admitted(trajectory)
    if (shown === null) return
    const of = trajectory.origin.kind === 'rollout' ? trajectory.task.id : shown.asked.toLowerCase()
    const known = this.#exemplars.find((one) => one.of === of)
    if (known && known.worth >= worth) return
    const others = this.#exemplars.filter((one) => one !== known)
    // The newest of those that were worth most stay.
    this.#exemplars = [{ of, ...shown, worth }, ...others]
      .toSorted((a, b) => b.worth - a.worth)
      .slice(0, this.#rules.most)
  }

  #admitted(trajectory: Trajectory): Shown | null {
    const { show, sessions, leaks, served, refusals } = this.#rules
    const seen = show(trajectory)
    if (seen === null) return null
    const shown = shareable(seen, trajectory, sessions)
    if (shown === null) refusals.add('withheld')
    else if (!isRenderable(shown)) refusals.add('unreadable')
    else if (instructsModel(`${shown.asked}\n${shown.answered}`)) refusals.add('instructs')
    else if (leaks?.(`${shown.asked}\n${shown.answered}`, served)) refusals.add('leak')
    else return shown
    return null
  }
}
