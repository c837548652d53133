import { UnusableGrammarError } from './unusable-grammar-error.ts'

/** Larger grammars are refused: compiling one takes time and memory in proportion. */
const mostCharacters = 256 * 1024

/** Expressions of an extended Backus–Naur form, with the rules that they name. */
export class Rules {
  readonly #rules: string[] = []
  readonly #named = new Map<string, string>()
  #characters = 0

  /** The name of the rule that says this: equal ones are one. @throws UnusableGrammarError when there are too many. */
  add(expression: string): string {
    return this.once(expression, () => expression)
  }

  /** A name for a rule that is defined later, so that it can name itself. */
  reserve(): string {
    const name = `r${this.#rules.length}`
    this.#rules.push('')
    return name
  }

  define(name: string, expression: string): void {
    this.#characters += expression.length
    if (this.#characters > mostCharacters)
      throw new UnusableGrammarError(
        'it is too large.',
        'Ask for a simpler form: fewer properties, shorter lists of values.',
      )
    this.#rules[Number(name.slice(1))] = expression
  }

  /** The rule of that meaning, made once. @param make is told its name, so that it can name itself. */
  once(meaning: string, make: (own: string) => string): string {
    const known = this.#named.get(meaning)
    if (known !== undefined) return known
    const name = this.reserve()
    this.#named.set(meaning, name)
    this.define(name, make(name))
    return name
  }

  /** All of it, beginning at an expression. */
  text(root: string): string {
    return [`root ::= ${root}`, ...this.#rules.map((expression, i) => `r${i} ::= ${expression}`)].join('\n')
  }
}

/** Exactly this text. */
export function literal(text: string): string {
  const spelled = Array.from(text, (character) => {
    const code = character.codePointAt(0) ?? 0
    if (character === '"' || character === '\\') return `\\${character}`
    return code < 0x20 || code > 0x7e ? `\\U${code.toString(16).padStart(8, '0')}` : character
  })
  return `"${spelled.join('')}"`
}

export const either = (expressions: readonly string[]): string => `(${[...new Set(expressions)].join(' | ')})`
