import type { Json } from './json.ts'
import type { AssistantMessage, Message, ToolCall, ToolDefinition } from './message.ts'
import type { Task } from './task.ts'

/** What the policy did in one step, as the environment sees it: well-formed tool calls, or final text. */
export type Action =
  | { readonly kind: 'calls'; readonly calls: readonly ToolCall[] }
  | { readonly kind: 'message'; readonly content: string }

/** An action as it stands in a conversation. */
export const actionMessage = (action: Action): AssistantMessage =>
  action.kind === 'message'
    ? { role: 'assistant', content: action.content }
    : { role: 'assistant', content: '', toolCalls: [...action.calls] }

/** What came back from one step. */
export interface StepOutcome {
  /** Messages to show the policy next: tool results, or a simulated user's turn. */
  readonly messages: readonly Message[]
  /** Whether the episode is over. */
  readonly done: boolean
  /** What this step earned, where the environment says so at once; `null` when it could not tell. Kept with the Step. */
  readonly reward?: number | null
}

/** Where an episode ended, for the verifier. Never shown to the policy. */
export interface FinalState {
  /** What the environment's own checker reads: for example the answer given and the expected one. */
  readonly state: Json
  /** Counts the environment kept, for example calls per tool. */
  readonly counts: Readonly<Record<string, number>>
}

/** One single-use, seeded, reproducible attempt at a Task. */
export interface Episode {
  /** Opening messages: what the policy is shown first. */
  readonly opening: readonly Message[]
  readonly tools: readonly ToolDefinition[]
  /**
   * @param signal fires when nobody waits for the answer any more: what takes long stops, and throws.
   * @throws RatchetError when the environment itself fails; what the policy did wrong is an observation, not an error.
   */
  step(action: Action, signal?: AbortSignal): Promise<StepOutcome> | StepOutcome
  close(): Promise<FinalState> | FinalState
  /** An independent copy at the same state, for tree search. */
  fork?(): Episode
}

/** Opens episodes on tasks. Many are open at once. */
export interface Environment {
  readonly name: string
  /**
   * @param seed decides everything random in the episode.
   * @param signal fires when nobody waits for the episode any more: what takes long stops, and throws.
   */
  open(task: Task, seed: number, signal?: AbortSignal): Promise<Episode> | Episode
}
