import type { AssistantMessage, Message } from './message.ts'

/** Something that a policy may say next. */
export interface Candidate {
  readonly message: AssistantMessage
  /** Its log-probability under the policy, over the full vocabulary at temperature 1; `null` where nobody told it. */
  readonly logprob: number | null
}

/** Says which of several things that a policy may say next is the best one. */
export interface Ranker {
  /** For records and people. */
  readonly name: string
  /**
   * @param read all messages that the policy has read, from the first.
   * @returns a finite score of each candidate, in their order: the higher the better.
   */
  rank(read: readonly Message[], candidates: readonly Candidate[]): Promise<readonly number[]>
}
