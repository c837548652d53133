import type { KvRows } from './kv.ts'

/**
 * A run of tokens whose keys and values are known, and what continues it. A child continues its parent after `offset`
 * of the parent's tokens, so that a branch never splits a run.
 */
export interface Segment {
  readonly tokens: Int32Array
  readonly rows: KvRows
  readonly parent: Segment | null
  /** Tokens of the parent that precede this run. */
  readonly offset: number
  /** Position of the first token in its sequences. */
  readonly start: number
  readonly children: Map<number, Segment>
  lastUse: number
  /** Waiting sequences that need this run or one after it: pinned runs are not evicted. */
  pins: number
}

/** A place in the tree: `offset` tokens into `segment`, `length` tokens from the root. */
export interface Match {
  readonly segment: Segment
  readonly offset: number
  readonly length: number
}

/**
 * The prefix cache: token sequences and their keys and values as a tree, one tree for each set of weights
 * (invariant 11). What several sequences begin with is stored, and computed, once. The least recently used leaves
 * are evicted when the trees outgrow their budget.
 */
export class PrefixTree {
  readonly #roots = new Map<string | null, Segment>()
  readonly #budget: () => number
  #elements = 0
  #pinned = 0
  #clock = 0

  /** @param budget float32 elements to keep at most, not counting pinned ones; asked whenever the trees are trimmed */
  constructor(budget: () => number) {
    this.#budget = budget
  }

  /** Elements held. */
  get elements(): number {
    return this.#elements
  }

  /** Elements held for waiting sequences. */
  get pinned(): number {
    return this.#pinned
  }

  /** Keeps a run and those that lead to it until {@link unpin}. */
  pin(segment: Segment): void {
    for (let at: Segment | null = segment; at !== null; at = at.parent) {
      if (at.pins++ === 0) this.#pinned += at.rows.elements.length
    }
  }

  unpin(segment: Segment): void {
    for (let at: Segment | null = segment; at !== null; at = at.parent) {
      if (--at.pins === 0) this.#pinned -= at.rows.elements.length
    }
  }

  /** The longest known prefix of `tokens[0 … length)` under an adapter. */
  match(adapter: string | null, tokens: Int32Array, length: number): Match {
    let segment = this.#root(adapter)
    let offset = 0
    let position = 0
    const now = ++this.#clock
    for (;;) {
      segment.lastUse = now
      while (offset < segment.tokens.length && position < length && segment.tokens[offset] === tokens[position]) {
        offset++
        position++
      }
      const child = position < length ? segment.children.get(childKey(offset, tokens[position] as number)) : undefined
      if (!child) return { segment, offset, length: position }
      segment = child
      offset = 0
    }
  }

  /**
   * Adds `tokens[0 … length)`. The rows from `first` on are given by `rows(from)`, which is asked for those from `from`
   * on, the first position that is not known yet. Returns the place of the last token.
   */
  insert(adapter: string | null, tokens: Int32Array, length: number, rows: (from: number) => KvRows): Match {
    const known = this.match(adapter, tokens, length)
    if (known.length === length) return known
    const segment: Segment = {
      tokens: tokens.slice(known.length, length),
      rows: rows(known.length),
      parent: known.segment,
      offset: known.offset,
      start: known.length,
      children: new Map(),
      lastUse: this.#clock,
      pins: 0,
    }
    known.segment.children.set(childKey(known.offset, tokens[known.length] as number), segment)
    this.#elements += segment.rows.elements.length
    return { segment, offset: length - known.length, length }
  }

  /** Evicts the least recently used leaves until the trees fit the budget, as far as pins allow. */
  trim(): void {
    const budget = this.#budget()
    while (this.#elements > budget) {
      const leaves: Segment[] = []
      for (const root of this.#roots.values()) collectLeaves(root, leaves)
      const evictable = leaves.filter(({ pins, parent }) => pins === 0 && parent !== null)
      if (evictable.length === 0) return
      evictable.sort((a, b) => a.lastUse - b.lastUse)
      for (const leaf of evictable) {
        if (this.#elements <= budget * 0.9) return
        leaf.parent?.children.delete(childKey(leaf.offset, leaf.tokens[0] as number))
        this.#elements -= leaf.rows.elements.length
      }
    }
  }

  /** Forgets everything computed under an adapter. */
  drop(adapter: string | null): void {
    const root = this.#roots.get(adapter)
    if (!root) return
    this.#roots.delete(adapter)
    this.#elements -= elementsBelow(root)
  }

  #root(adapter: string | null): Segment {
    const known = this.#roots.get(adapter)
    if (known) return known
    const root: Segment = {
      tokens: new Int32Array(0),
      rows: { elements: new Float32Array(0), count: 0 },
      parent: null,
      offset: 0,
      start: 0,
      children: new Map(),
      lastUse: 0,
      pins: 0,
    }
    this.#roots.set(adapter, root)
    return root
  }
}

/** The runs that lead to a place, root first, each with how many of its tokens belong to the path. */
export function pathTo({ segment, offset }: Match): { readonly segment: Segment; readonly count: number }[] {
  const path = []
  let count = offset
  for (let at: Segment | null = segment; at !== null; at = at.parent) {
    if (count > 0) path.push({ segment: at, count })
    count = at.offset
  }
  return path.toReversed()
}

/** A child is found by where it leaves its parent and by its first token. */
function childKey(offset: number, token: number): number {
  return offset * 2 ** 24 + token
}

function collectLeaves(segment: Segment, leaves: Segment[]): void {
  if (segment.children.size === 0) leaves.push(segment)
  for (const child of segment.children.values()) collectLeaves(child, leaves)
}

function elementsBelow(segment: Segment): number {
  let elements = segment.rows.elements.length
  for (const child of segment.children.values()) elements += elementsBelow(child)
  return elements
}
