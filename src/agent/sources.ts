import {
  type Action,
  type Decision,
  type Message,
  type NodeId,
  sha256,
  type ToolCall,
  toolCallsOf,
} from '../core/index.ts'
import { Pieces } from './pieces.ts'

/** Something that a program shows or does, in which what was decided before can be found again. */
export interface Shown {
  /** Objects that nobody else made: found again, they say where it comes from whatever they hold. */
  readonly objects: readonly object[]
  /** What it holds, so that a copy of it is known. */
  readonly keys: readonly string[]
  readonly text: string
}

/** What a Parameter decided, as it may turn up elsewhere. */
export interface Source {
  /** How many were known before it. */
  readonly order: number
  /** `null` while nothing is recorded of it: a text that no conversation has read yet. */
  decision: Decision | null
  /** Which Version of which Parameter it is, where that is all that there is to know of it; else `null`. */
  readonly version: string | null
}

/** Where something comes from: from what it is or is a copy of, or from what it quotes. */
export interface Origins {
  readonly how: 'is' | 'quotes'
  readonly sources: readonly Source[]
  /** Whether these are all. They are not where it takes too long to tell, or it quotes too many to say anything. */
  readonly complete: boolean
}

/** How many sources one thing may come from, and how many are looked at to find them. */
const most = { sources: 256, looks: 10_000 }

/**
 * Finds out which decisions a message or an action was made from. JavaScript does not say where a string comes from, so
 * this is what is claimed, and no more: it was made from a decision if it is the object that the decision left, or an
 * equal one (a copy), or if it quotes it: the whole text, a whole line of it, or a whole string among its calls'
 * arguments. Equal words are taken for a quotation: a link too many costs variance, one too few costs the truth. What a
 * program computes from a text, or decides by it, leaves no such trace. Takes time in proportion to what is shown, not to
 * what was said before; what would take longer is said to be incomplete.
 */
export class Sources {
  readonly #byObject = new WeakMap<object, Source>()
  /** A text that is read twice is one text: a Version stands for all its uses. */
  readonly #byKey = new Map<string, Set<string | Source>>()
  readonly #pieces = new Pieces<string | Source>()
  readonly #uses = new Map<string, Source[]>()
  #count = 0

  add(shown: Shown, { decision, version }: Pick<Source, 'decision' | 'version'>): Source {
    const source: Source = { order: this.#count++, decision, version }
    for (const object of shown.objects) this.#byObject.set(object, source)
    for (const key of shown.keys.map(sha256)) this.#byKey.set(key, this.#madeEqual(key).add(version ?? source))
    const uses = version === null ? undefined : this.#uses.get(version)
    uses?.push(source)
    // A Version is one text: its pieces are known from its first use.
    if (uses === undefined) this.#pieces.add(shown.text, version ?? source)
    if (uses === undefined && version !== null) this.#uses.set(version, [source])
    return source
  }

  /** Remembers that one object was made of another, so that it is known without looking at what it holds. */
  same(made: object, of: object): void {
    const source = this.#byObject.get(of)
    if (source) this.#byObject.set(made, source)
  }

  /** The first use of a Version, preferably one that is recorded. */
  ofVersion(version: string): Source | undefined {
    return this.#useOf(version, () => true)
  }

  /** @param path nodes whose decisions are not looked for: they are known to have been read. */
  of(shown: Shown, path: ReadonlySet<NodeId>): Origins {
    for (const object of shown.objects) {
      const source = this.#byObject.get(object)
      if (source) return { how: 'is', sources: [source], complete: true }
    }
    const equal = this.#elsewhere(
      shown.keys.map(sha256).map((key) => this.#madeEqual(key)),
      path,
    )
    if (equal.sources.length > 0) return { how: 'is', ...equal }
    const { by, complete } = this.#pieces.in(shown.text)
    const quoted = this.#elsewhere(by, path)
    if (equal.complete && complete && quoted.complete) return { how: 'quotes', ...quoted }
    return {
      how: 'quotes',
      sources: [...new Set([...quoted.sources, ...this.#unread()])].toSorted(byOrder),
      complete: false,
    }
  }

  #madeEqual(key: string): Set<string | Source> {
    return this.#byKey.get(key) ?? new Set()
  }

  /** Those that are on no node of the path, in the order in which they became known. */
  #elsewhere(made: Iterable<Iterable<string | Source>>, path: ReadonlySet<NodeId>): Omit<Origins, 'how'> {
    const isElsewhere = ({ decision }: Source) => !decision?.output || !path.has(decision.output)
    const makers = new Set<string | Source>()
    const found = new Set<Source>()
    let looks = 0
    for (const maker of chained(made)) {
      if (++looks > most.looks || found.size >= most.sources)
        return { sources: [...found].toSorted(byOrder), complete: false }
      if (makers.has(maker)) continue
      makers.add(maker)
      const source =
        typeof maker === 'string' ? this.#useOf(maker, isElsewhere) : isElsewhere(maker) ? maker : undefined
      if (source) found.add(source)
    }
    return { sources: [...found].toSorted(byOrder), complete: true }
  }

  /** The first use of a Version that will do, preferably one that is recorded. */
  #useOf(version: string, willDo: (source: Source) => boolean): Source | undefined {
    let unread: Source | undefined
    for (const source of this.#uses.get(version) ?? []) {
      if (!willDo(source)) continue
      if (source.decision !== null) return source
      unread ??= source
    }
    return unread
  }

  /** Texts of which nothing is recorded. What is not known to come from elsewhere may come from any of them. */
  #unread(): readonly Source[] {
    return [...this.#uses.keys()].flatMap((version) => {
      const source = this.ofVersion(version)
      return source?.decision === null ? [source] : []
    })
  }
}

const byOrder = (one: Source, other: Source) => one.order - other.order

function* chained<T>(all: Iterable<Iterable<T>>): Iterable<T> {
  for (const some of all) yield* some
}

/** A message, as it may turn up elsewhere. */
export function shownMessage(message: Message): Shown {
  const calls = toolCallsOf(message)
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
