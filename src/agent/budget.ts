/**
 * How much one `weights` Parameter may spend in one episode, whichever way it is called. What is spent ends the episode
 * with a stop reason; it is the policy's act, and is scored.
 */
export interface EpisodeBudget {
  /** Policy calls. */
  readonly turns: number
  /** Sampled tokens over the whole episode. */
  readonly tokens: number
  /** Sampled tokens of one policy call. */
  readonly tokensPerTurn: number
  /** Wall-clock seconds; omit it in deterministic runs. */
  readonly seconds?: number
  /** Calls that could not be read before the episode ends; 1 ends it at the first. */
  readonly malformedCalls: number
  /** Calls that a tool answered with an error before the episode ends. */
  readonly toolErrors: number
}

/** Small tool-using episodes: a handful of short turns, and broken calls are final. */
export const defaultBudget: EpisodeBudget = {
  turns: 8,
  tokens: 256,
  tokensPerTurn: 64,
  malformedCalls: 1,
  toolErrors: 2,
}
