import { type Action, type Decision, type Message, type NodeId, type ToolCall } from '../core/index.ts'

/** Something that a program shows or does, in which what was decided before can be found again. */
export interface Shown {
  /** Objects that nobody else made: found again, they say where it comes from whatever they hold. */
  readonly objects: readonly object[]
  /** What it holds, so that a copy of it is known. */
  readonly keys: readonly string[]
  readonly text: string
}

/** What a Parameter decided, as it may turn up elsewhere. */
export interface Source extends Shown {
  /** One of these in a text is a quotation of it. */
  readonly pieces: readonly string[]
  /** `null` while nothing is recorded of it: a text that no conversation has read yet. */
  decision: Decision | null
  /** Which Version of which Parameter it is, where that is all that there is to know of it; else `null`. */
  readonly version: string | null
}

/** Where something comes from: from what it is or is a copy of, or from what it quotes. */
export interface Origins {
  readonly how: 'is' | 'quotes'
  readonly sources: readonly Source[]
}

/**
 * Finds out which decisions a message or an action was made from. JavaScript does not say where a string comes from, so
 * this is what is claimed, and no more: it was made from a decision if it is the object that the decision left, or an
 * equal one (a copy), or if it quotes it: the whole text, a whole line of it, or a whole string among its calls'
 * arguments. Equal words are taken for a quotation: a link too many costs variance, one too few costs the truth. What a
 * program computes from a text, or decides by it, leaves no such trace.
 */
export class Sources {
  readonly #byObject = new WeakMap<object, Source>()
  readonly #all: Source[] = []

  add(shown: Shown, { decision, version }: Pick<Source, 'decision' | 'version'>): Source {
    const source: Source = { ...shown, pieces: piecesOf(shown), decision, version }
    for (const object of shown.objects) this.#byObject.set(object, source)
    this.#all.push(source)
    return source
  }

  /** Remembers that one object was made of another, so that it is known without looking at what it holds. */
  same(made: object, of: object): void {
    const source = this.#byObject.get(of)
    if (source) this.#byObject.set(made, source)
  }

  /** The first use of a Version, preferably one that is recorded. */
  ofVersion(version: string): Source | undefined {
    return firstOfEachVersion(this.#all.filter((source) => source.version === version))[0]
  }

  /** @param path nodes whose decisions are not looked for: they are known to have been read. */
  of(shown: Shown, path: ReadonlySet<NodeId>): Origins {
    for (const object of shown.objects) {
      const source = this.#byObject.get(object)
      if (source) return { how: 'is', sources: [source] }
    }
    const elsewhere = this.#all.filter(({ decision }) => !decision?.output || !path.has(decision.output))
    const equal = elsewhere.filter(({ keys }) => keys.some((key) => shown.keys.includes(key)))
    if (equal.length > 0) return { how: 'is', sources: firstOfEachVersion(equal) }
    const quoted = elsewhere.filter(({ pieces }) => pieces.some((piece) => quotes(shown.text, piece)))
    return { how: 'quotes', sources: firstOfEachVersion(quoted) }
  }
}

/** A text that is read twice is one text: what decided counts once. */
function firstOfEachVersion(sources: readonly Source[]): readonly Source[] {
  const chosen = new Map<string | Source, Source>()
  for (const source of sources) {
    const key = source.version ?? source
    const known = chosen.get(key)
    if (!known || (known.decision === null && source.decision !== null)) chosen.set(key, source)
  }
  return [...chosen.values()]
}

/** A message, as it may turn up elsewhere. */
export function shownMessage(message: Message): Shown {
  const calls = message.role === 'assistant' ? (message.toolCalls ?? []) : []
  return {
    objects: [message, ...(calls.length > 0 ? [calls] : [])],
    keys: [JSON.stringify([message.role, message.content, ...calls.map(plain)]), ...keysOf(calls)],
    text: [message.content, ...calls.flatMap(stringsIn)].join('\n'),
  }
}

/** What is done to an episode. */
export function shownAction(action: Action): Shown {
  if (action.kind === 'message') return { ...shownText(action.content), objects: [action] }
  return {
    objects: [action, action.calls],
    keys: keysOf(action.calls),
    text: action.calls.flatMap(stringsIn).join('\n'),
  }
}

/** A text by itself. */
export function shownText(text: string): Shown {
  return { objects: [], keys: [], text }
}

const keysOf = (calls: readonly ToolCall[]) => (calls.length === 0 ? [] : [JSON.stringify(calls.map(plain))])
const plain = ({ name, arguments: given }: ToolCall) => ({ name, given })
const stringsIn = ({ arguments: given }: ToolCall) => Object.values(given).filter((value) => typeof value === 'string')

/** The text as a whole and its lines, without what marks an item of a list; those that say something. */
function piecesOf({ text }: Shown): readonly string[] {
  const lines = text.split('\n').map((line) => line.replace(/^\s*(?:[-*•]|\d+[.)])\s+/, ''))
  return [...new Set([text, ...lines].map((piece) => piece.trim()))].filter((piece) => wordy.test(piece))
}

const wordy = /[\p{L}\p{N}]/u

/** Whether `piece` is in `text` as whole words. */
function quotes(text: string, piece: string): boolean {
  for (let at = text.indexOf(piece); at >= 0; at = text.indexOf(piece, at + 1)) {
    const end = at + piece.length
    if (!joined(text, at) && !joined(text, end)) return true
  }
  return false
}

/** Whether a word goes on across this place. */
const joined = (text: string, at: number) => wordy.test(text[at - 1] ?? '') && wordy.test(text[at] ?? '')
