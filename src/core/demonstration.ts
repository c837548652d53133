import type { Message } from './message.ts'
import type { Task } from './task.ts'

/** An episode in which a task is done as it should be: the whole conversation, opening included. */
export interface DemonstratedEpisode {
  readonly messages: readonly Message[]
  /** The task that is done, where it is known. */
  readonly task?: Task
  /**
   * Messages of the assistant, by their index, that were wrong and are put right later: they are read, and not imitated
   * (AgentRefine, Fu et al. 2025; STeP, Chen et al. 2025). Default: none.
   */
  readonly mistakes?: readonly number[]
}

/** Tokens to imitate: `learn[t]` says whether token t is the author's act, or context. Equal lengths. */
export interface Demonstration {
  readonly tokens: readonly number[]
  readonly learn: readonly boolean[]
}
