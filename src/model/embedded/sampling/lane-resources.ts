import type { Mixer } from '../nearest/mixer.ts'
import type { TokenChooser } from './choose.ts'
import type { KvGrid, KvShape } from './kv.ts'
import type { KvMemory } from './kv-memory.ts'
import type { PrefixTree } from './prefix-tree.ts'
import type { StepRunner } from './step.ts'

/** What the lanes of a shard share. */
export interface LaneResources {
  readonly shape: KvShape
  readonly tree: PrefixTree
  readonly runner: StepRunner
  readonly chooser: TokenChooser
  readonly mixer: Mixer
  readonly deterministic: boolean
  readonly memory: KvMemory
  /** Where runs over prompts lay out what is cached of them. */
  readonly past: KvGrid
}
