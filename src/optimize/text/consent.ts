import type { Trajectory } from '../../core/index.ts'
import { isOfPeople, type Shown } from './shown.ts'
import { TextError } from './text-error.ts'

/**
 * How words of people's sessions may enter a text that everybody's sessions read.
 * - `{ redact }`: every word goes through it first; what it gives back is everybody's. An episode for which it gives `null` is
 *   left out.
 * - `{ public: true }`: whoever runs this says that nothing in the sessions is anybody's own.
 */
export type Sessions = { readonly redact: (text: string) => string | null } | { readonly public: true }

/**
 * @param attempts whether the source has tasks to attempt; else it is people's sessions.
 * @throws TextError (`text/no-consent`) where sessions would be learned from, and nobody said how.
 */
export function requireConsent(attempts: boolean, sessions: Sessions | undefined, optimizer: string): void {
  if (attempts || sessions !== undefined) return
  throw new TextError({
    code: 'text/no-consent',
    message: `${optimizer} would put words of people's sessions into a text that everybody's sessions read.`,
    hint: `Give \`sessions: { redact }\` to ${optimizer}, or \`sessions: { public: true }\` where nothing in them is anybody's own.`,
  })
}

/** What others may read of an episode; `null` for nothing. */
export function shareable(shown: Shown, trajectory: Trajectory, sessions: Sessions | undefined): Shown | null {
  if (!isOfPeople(trajectory)) return shown
  if (sessions === undefined) return null
  if ('public' in sessions) return shown
  const [asked, answered] = [sessions.redact(shown.asked), sessions.redact(shown.answered)]
  return asked === null || answered === null ? null : { asked, answered }
}
