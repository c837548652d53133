import { LRUCache } from 'lru-cache'
import type { CompiledGrammar, GrammarCompiler } from '@mlc-ai/web-xgrammar'
import { Matcher } from './matcher.ts'
import { UnusableGrammarError } from './unusable-grammar-error.ts'
import { type Library, loadXGrammar } from './xgrammar.ts'

/** Compiles grammars for one vocabulary, in the thread that it is opened in: for as long as one takes, nothing else runs there. */
export class Compiler {
  readonly #library: Library
  readonly #compiler: GrammarCompiler
  readonly #compiled: LRUCache<string, CompiledGrammar>

  private constructor(library: Library, compiler: GrammarCompiler, kept: number) {
    this.#compiled = new LRUCache({ max: kept, dispose: (grammar) => grammar.dispose() })
    this.#library = library
    this.#compiler = compiler
  }

  /**
   * @param vocabulary every token as byte-level vocabularies spell it; empty ones are never allowed but to stop.
   * @param kept compiled grammars that are kept: agents ask for the same ones over and over. Default 16.
   */
  static async open(vocabulary: readonly string[], kept = 16): Promise<Compiler> {
    const library = loadXGrammar()
    const { TokenizerInfo, GrammarCompiler: XGrammarCompiler } = library.api
    const info = await TokenizerInfo.createTokenizerInfo([...vocabulary], 'byte_level', false, vocabulary.length, [])
    return new Compiler(library, await XGrammarCompiler.createGrammarCompiler(info, false), kept)
  }

  /**
   * @throws UnusableGrammarError when the grammar cannot be compiled. The compiler is of no use afterwards: xgrammar has
   *   aborted.
   */
  async compile(ebnf: string): Promise<CompiledGrammar> {
    const known = this.#compiled.get(ebnf)
    if (known) return known
    const compiled = await this.#unlessAborted(() => this.#compiler.compileGrammar(ebnf))
    this.#compiled.set(ebnf, compiled)
    return compiled
  }

  /** Follows one sequence, of which `taken` was sampled before. Whoever asks for it disposes of it. */
  async matcher(
    ebnf: string,
    stopTokens: readonly number[],
    taken: ArrayLike<number> & Iterable<number>,
  ): Promise<Matcher> {
    const compiled = await this.compile(ebnf)
    const { GrammarMatcher } = this.#library.api
    const matcher = new Matcher(
      await this.#unlessAborted(() => GrammarMatcher.createGrammarMatcher(compiled, [...stopTokens])),
      taken.length > 0,
    )
    for (const token of taken) matcher.accept(token)
    return matcher
  }

  async #unlessAborted<T>(work: () => Promise<T>): Promise<T> {
    this.#library.takeWords()
    try {
      return await work()
    } catch (error) {
      const words = this.#library.takeWords() || String(error)
      throw new UnusableGrammarError(
        `xgrammar does not compile it (${words.slice(0, 300)}).`,
        'Ask for a simpler form.',
      )
    }
  }
}
