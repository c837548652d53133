import type { ChatModel } from '../../core/index.ts'
import type { Sessions } from './consent.ts'
import type { Feedback } from './material.ts'
import type { Show } from './shown.ts'

/** How a text is evolved. */
export interface ReflectOptions {
  /** Writes what is proposed. It reads episodes: give one that may see them. */
  readonly writer: ChatModel
  /** Parts of the text that stay byte for byte; what stands between them is changed one part at a time. Default: none. */
  readonly locked?: readonly string[]
  /** Episodes that may be attempted, in all. Default 400. Over traffic none are. */
  readonly evaluations?: number
  /** Training tasks that one proposal is written from and tried on first. Default 4. */
  readonly minibatch?: number
  /** Tasks that measure what passed that, at most. Default 24. */
  readonly measuredBy?: number
  /** Proposals of one update, at most. Default 1. */
  readonly perUpdate?: number
  /** What an episode that needs nothing better earned, in the reward's unit. Default 1. */
  readonly success?: number
  /** Bytes of the whole text (UTF-8), at most. Default 16,384. */
  readonly maxBytes?: number
  /** Tokens of one answer of the writer's, at most. Default 4,096. */
  readonly maxTokens?: number
  /** How an episode is shown to the writer. Default: `showDialogue`. */
  readonly show?: Show
  /** What is said of an attempt beside what it earned. Default: nothing. */
  readonly feedback?: Feedback
  /** How people's sessions may be shown to the writer, and through it to others. Needed over traffic. */
  readonly sessions?: Sessions
}

type Optional = 'sessions' | 'feedback'

/** The options with their defaults. */
export type CompleteReflect = Omit<Required<ReflectOptions>, Optional> & {
  readonly [K in Optional]: ReflectOptions[K] | undefined
}
