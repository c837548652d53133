import type { ScoredTrajectory, TextCritique } from '../../core/index.ts'
import { type Sessions, shareable } from './consent.ts'
import { ended, episodeWentWell, isOfPeople, type Show } from './shown.ts'

/** What a writer reads of one episode. */
export interface Lesson {
  readonly asked: string
  /** What was done; absent where it may have been gamed. */
  readonly did?: string
  /** What it earned, in the reward's unit; or whether it went well, where only that is known. */
  readonly earned: number | 'well' | 'badly'
  /** What should have been different, in words. */
  readonly feedback?: string
}

/** What is said of an attempt beside what it earned: what was expected, what a test printed. `null` for nothing. */
export type Feedback = (attempt: ScoredTrajectory) => string | null

/** Characters of one text that a writer reads of an episode. */
const most = 4_000
const clipped = (text: string): string => (text.length > most ? `${text.slice(0, most)} […]` : text)

/** Attempts for a writer: those that ended by themselves, and that no guard vetoed (invariant 5). */
export function lessonsOfAttempts(
  attempts: readonly ScoredTrajectory[],
  { show, feedback }: { readonly show: Show; readonly feedback: Feedback | undefined },
): readonly Lesson[] {
  return attempts.flatMap((attempt) => {
    const { trajectory, reward } = attempt
    const shown = reward.status === 'scored' && ended(trajectory) ? show(trajectory) : null
    if (shown === null || reward.value === null) return []
    const said = feedback?.(attempt) ?? null
    return [
      {
        asked: clipped(shown.asked),
        did: clipped(shown.answered),
        earned: reward.value,
        ...(said !== null && { feedback: clipped(said) }),
      },
    ]
  })
}

/**
 * Episodes of a batch for a writer, the best and the worst. Credit does not tell a vetoed episode from a bad one: of what did
 * not go well it reads what was asked, and what critics said.
 */
export function lessonsOfEpisodes(
  episodes: readonly TextCritique[],
  rules: {
    readonly show: Show
    readonly sessions: Sessions | undefined
    readonly success: number
    readonly most: number
  },
): readonly Lesson[] {
  const lessons = episodes
    .toSorted((a, b) => (b.advantage ?? 0) - (a.advantage ?? 0))
    .flatMap((episode): readonly Lesson[] => {
      const seen = ended(episode.trajectory) ? rules.show(episode.trajectory) : null
      const shown = seen && shareable(seen, episode.trajectory, rules.sessions)
      if (!shown) return []
      const asked = clipped(shown.asked)
      const feedback = said(episode, rules.sessions)
      if (episodeWentWell(episode, rules.success)) {
        return [{ asked, did: clipped(shown.answered), earned: 'well', ...(feedback !== null && { feedback }) }]
      }
      return [{ asked, earned: 'badly', ...(feedback !== null && { feedback }) }]
    })
  const half = Math.ceil(rules.most / 2)
  return lessons.length <= rules.most ? lessons : [...lessons.slice(0, half), ...lessons.slice(half - rules.most)]
}

/** A critic quotes what it read: the same rules hold for its words. */
function said({ critique, trajectory }: TextCritique, sessions: Sessions | undefined): string | null {
  if (critique === null) return null
  const words = isOfPeople(trajectory) && sessions && 'redact' in sessions ? sessions.redact(critique) : critique
  return words === null ? null : clipped(words)
}

/** Material as one line of JSON in which no `<` is left that could end it (invariant 10). */
export const asData = (value: unknown): string => JSON.stringify(value).replaceAll('<', String.raw`\u003c`)
