/**
 * What a model says first in one episode, turn by turn, in the place of what it would: so an attempt can go as another did,
 * up to an act that it changes. After them the model speaks itself. Forced tokens are recorded as `forced`; no policy gradient
 * learns from them, since nothing sampled them.
 */
export class ForcedTurns {
  readonly #turns: Iterator<readonly number[]>

  /** @param turns tokens of each, its stop token included. */
  constructor(turns: readonly (readonly number[])[]) {
    this.#turns = turns.values()
  }

  /** The next turn; `null` once the model speaks itself. */
  take(): readonly number[] | null {
    const { done, value } = this.#turns.next() as IteratorResult<readonly number[], undefined>
    return done ? null : value
  }
}
