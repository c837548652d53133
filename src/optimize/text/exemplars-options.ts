import type { Sessions } from './consent.ts'
import type { Show } from './shown.ts'

/** How exemplars are chosen. */
export interface ExemplarsOptions {
  /** Exemplars in the text. Default 4. */
  readonly count?: number
  /** Episodes that may be attempted to choose them, in all. Default 400. Over traffic none are. */
  readonly evaluations?: number
  /** Tasks that measure a choice, at most. Default 24. */
  readonly measuredBy?: number
  /** Choices that are measured in one update, at most. Default 2. */
  readonly perUpdate?: number
  /** What an episode that went well earned, at least, in the reward's unit. Default 0.5. */
  readonly success?: number
  /** Bytes of the whole text (UTF-8), at most. Default 16,384. */
  readonly maxBytes?: number
  /** How an episode is shown. Default: `showDialogue`. */
  readonly show?: Show
  /** How people's sessions may be shown to others. Needed over traffic. */
  readonly sessions?: Sessions
}

/** The options with their defaults. */
export type CompleteExemplars = Omit<Required<ExemplarsOptions>, 'sessions'> & {
  readonly sessions: Sessions | undefined
}
