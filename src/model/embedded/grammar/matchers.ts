import { present } from '../../../errors/index.ts'
import type { SampleJob } from '../sampling/job.ts'
import { Compiler } from './compiler.ts'
import type { Matcher } from './matcher.ts'

/** Makes the matchers of one thread. Its compiler is opened with the first grammar, and anew when xgrammar has aborted. */
export class Matchers {
  #vocabulary: readonly string[] | null = null
  #compiler: Promise<Compiler> | null = null

  /** What grammars are compiled for, before the first job that has one: every token as byte-level vocabularies spell it. */
  setVocabulary(vocabulary: readonly string[]): void {
    this.#vocabulary = vocabulary
  }

  /**
   * What holds a job to its grammar, beyond the tokens that were sampled before it; `null` where nothing does. Whoever asks
   * for it disposes of it.
   * @throws UnusableGrammarError when the grammar cannot be compiled.
   */
  async open({ grammar, prompt, firstDraw }: SampleJob): Promise<Matcher | null> {
    if (!grammar) return null
    this.#compiler ??= Compiler.open(present(this.#vocabulary, 'the vocabulary'))
    try {
      const taken = prompt.subarray(prompt.length - firstDraw)
      return await (await this.#compiler).matcher(grammar.ebnf, grammar.stopTokens, taken)
    } catch (error) {
      this.#compiler = null
      throw error
    }
  }
}
