import type { Message } from './message.ts'
import type { Task } from './task.ts'

/** An episode in which a task is done as it should be: the whole conversation, opening included. */
export interface DemonstratedEpisode {
  readonly messages: readonly Message[]
  /** The task that is done, where it is known. */
  readonly task?: Task
}

/** Tokens to imitate: `learn[t]` says whether token t is the author's act, or context. Equal lengths. */
export interface Demonstration {
  readonly tokens: readonly number[]
  readonly learn: readonly boolean[]
}
