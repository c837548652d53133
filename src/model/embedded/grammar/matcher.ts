import type { GrammarMatcher } from '@mlc-ai/web-xgrammar'
import { InvariantError } from '../../../errors/index.ts'
import { UnusableGrammarError } from './unusable-grammar-error.ts'

/** Follows one sequence through its grammar. */
export class Matcher {
  readonly #matcher: GrammarMatcher

  constructor(matcher: GrammarMatcher) {
    this.#matcher = matcher
  }

  /**
   * A bit for each token that may come next, the first one lowest.
   * @throws UnusableGrammarError when none may: the vocabulary cannot spell what would have to come.
   */
  async allowed(): Promise<Int32Array> {
    const mask = await this.#matcher.getNextTokenBitmask()
    if (mask.some((word) => word !== 0)) return mask
    throw new UnusableGrammarError(
      'no token of the model can go on in it.',
      'Ask for a form in letters that the model knows.',
    )
  }

  /** Goes on with a token that is allowed. */
  accept(token: number): void {
    if (!this.#matcher.acceptToken(token)) throw new InvariantError(`the grammar does not allow the token ${token}`)
  }

  /** Gives its memory back. */
  dispose(): void {
    this.#matcher.dispose()
  }
}
