import type { GrammarMatcher } from '@mlc-ai/web-xgrammar'
import { InvariantError } from '../../../errors/index.ts'
import { UnusableGrammarError } from './unusable-grammar-error.ts'

/**
 * Milliseconds that a sequence's masks may take together beyond what each may: the most that is left over, where it was sampled
 * in part before, and each.
 */
const [patience, patienceAgain, patienceEach] = [1_000, 200, 50]

/** Follows one sequence through its grammar. Sequences beside it wait while its masks are found: one that takes long is given up. */
export class Matcher {
  readonly #matcher: GrammarMatcher
  /** Milliseconds left. */
  #left: number

  /**
   * @param again whether the sequence was sampled in part before, as one with stop strings is: many short parts must not take
   *   longer than one long part.
   */
  constructor(matcher: GrammarMatcher, again = false) {
    this.#matcher = matcher
    this.#left = again ? patienceAgain : patience
  }

  /**
   * A bit for each token that may come next, the first one lowest.
   * @throws UnusableGrammarError when none may: the vocabulary cannot spell what would have to come. And when all masks so
   *   far took too long: many alternatives go on at once.
   */
  async allowed(): Promise<Int32Array> {
    const start = performance.now()
    const mask = await this.#matcher.getNextTokenBitmask()
    // Quick masks save nothing up: a form that is slow late would keep others waiting for as long as it was quick.
    this.#left = Math.min(patience, this.#left - (performance.now() - start) + patienceEach)
    if (this.#left < 0)
      throw new UnusableGrammarError(
        `its masks take longer than ${patienceEach} ms a token.`,
        'Ask for a form with fewer alternatives that begin alike: anyOf, properties that may be left out.',
      )
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
