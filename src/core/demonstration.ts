/** Tokens to imitate: `learn[t]` says whether token t is the author's act, or context. Equal lengths. */
export interface Demonstration {
  readonly tokens: readonly number[]
  readonly learn: readonly boolean[]
}
