/**
 * Token sequences merged by shared prefix. A node is one token with its prefix; nodes are numbered in preorder, so a
 * parent's number is below its children's and a subtree is an interval.
 */
export interface TokenTree {
  readonly size: number
  readonly token: Int32Array
  /** Number of the node one token earlier; −1 at a root. */
  readonly parent: Int32Array
  /** Tokens before this one. */
  readonly depth: Int32Array
  readonly maxDepth: number
  /** For each sequence, the node of each of its tokens. */
  readonly paths: readonly Int32Array[]
}

/**
 * Grows a tree (or several, where sequences share nothing) from sequences in lexicographic order: there the longest
 * prefix that a sequence shares with any earlier one is the one it shares with its neighbour.
 */
export function growTree(sequences: readonly (readonly number[])[], share = true): TokenTree {
  const capacity = sequences.reduce((sum, { length }) => sum + length, 0)
  const token = new Int32Array(capacity)
  const parent = new Int32Array(capacity)
  const depth = new Int32Array(capacity)
  const paths: Int32Array[] = []
  let size = 0
  let maxDepth = 0
  for (const [index, sequence] of sequences.entries()) {
    const shared = share ? sharedPrefix(sequence, sequences[index - 1]) : 0
    const path = new Int32Array(sequence.length)
    path.set((paths.at(-1) ?? path).subarray(0, shared))
    for (let position = shared; position < sequence.length; position++) {
      token[size] = sequence[position] as number
      parent[size] = position === 0 ? -1 : (path[position - 1] as number)
      depth[size] = position
      path[position] = size++
    }
    maxDepth = Math.max(maxDepth, sequence.length - 1)
    paths.push(path)
  }
  return { size, token, parent, depth, maxDepth, paths }
}

/** How many leading tokens two sequences have in common. */
export function sharedPrefix(a: readonly number[], b: readonly number[] | undefined): number {
  if (b === undefined) return 0
  const end = Math.min(a.length, b.length)
  let shared = 0
  while (shared < end && a[shared] === b[shared]) shared++
  return shared
}
