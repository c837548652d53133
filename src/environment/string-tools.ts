import type { ToolDefinition } from '../core/index.ts'

/** What a tool does, in words for the policy, and the name of the one string that it takes; `null` where it takes none. */
export interface StringTool {
  readonly does: string
  readonly takes: string | null
}

/** The one string of a call, without white space at its ends, or what is wrong with it in words that teach. */
export type ReadString = { readonly text: string } | { readonly problem: string }

/** Tools of which each takes one string or nothing: the form of a call that is easiest to learn. */
export class StringTools<Name extends string> {
  /** As the policy sees them, in the order in which they were given. */
  readonly definitions: readonly ToolDefinition[]
  readonly #tools: Readonly<Record<Name, StringTool>>
  readonly #maxLength: number

  /** @param maxLength longest argument, in UTF-16 code units, so that the work of a call stays bounded. */
  constructor(tools: Readonly<Record<Name, StringTool>>, maxLength: number) {
    this.#tools = tools
    this.#maxLength = maxLength
    this.definitions = Object.entries<StringTool>(tools).map(([name, { does, takes }]) => ({
      name,
      description: does,
      parameters: {
        type: 'object',
        properties: takes === null ? {} : { [takes]: { type: 'string' } },
        required: takes === null ? [] : [takes],
        additionalProperties: false,
      },
    }))
  }

  /** Whether there is a tool of this name; of a name that every object inherits there is none. */
  has(name: string): name is Name {
    return Object.hasOwn(this.#tools, name)
  }

  /** The names, as an error lists them. */
  names(): string {
    return Object.keys(this.#tools).join(', ')
  }

  /** The arguments object of a call: what a script writes. A tool that takes nothing ignores `text`. */
  argumentsOf(name: Name, text = ''): Readonly<Record<string, string>> {
    const { takes } = this.#tools[name]
    return takes === null ? {} : { [takes]: text }
  }

  /** Reads what a call was given, whatever it was; empty for a tool that takes nothing. */
  read(name: Name, given: unknown): ReadString {
    const { takes } = this.#tools[name]
    const usage = takes === null ? `${name} takes no argument` : `${name} takes one string: {"${takes}": "…"}`
    if (typeof given !== 'object' || given === null) return { problem: usage }
    const entries: [string, unknown][] = Object.entries(given)
    if (takes === null) return entries.length === 0 ? { text: '' } : { problem: usage }
    const [key, value] = entries[0] ?? []
    if (entries.length !== 1 || key !== takes || typeof value !== 'string') return { problem: usage }
    if (value.length > this.#maxLength)
      return { problem: `${takes} has ${value.length} characters: at most ${this.#maxLength}` }
    const text = value.trim()
    return text === '' ? { problem: `${takes} is empty` } : { text }
  }
}
