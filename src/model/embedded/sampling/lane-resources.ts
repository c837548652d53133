import type { TokenChooser } from './choose.ts'
import type { KvShape } from './kv.ts'
import type { PrefixTree } from './prefix-tree.ts'
import type { StepRunner } from './step.ts'

/** What the lanes of a shard share. */
export interface LaneResources {
  readonly shape: KvShape
  readonly tree: PrefixTree
  readonly runner: StepRunner
  readonly chooser: TokenChooser
  readonly deterministic: boolean
  /** float32 elements that decoding sequences of one batch may hold. */
  readonly decodeElements: number
}
