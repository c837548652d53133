import { z } from 'zod'
import { TaskId } from './id.ts'
import { Json } from './json.ts'

/** Which evidence a task may serve. `holdout` tasks never reach an Optimizer (invariant 6). */
export const Split = z.enum(['train', 'validation', 'holdout'])
export type Split = z.infer<typeof Split>

/** Something to attempt. */
export const Task = z.strictObject({
  id: TaskId,
  /** What the agent is asked, in the user's words. */
  instruction: z.string().min(1),
  /** What the checker needs; the agent never sees it. */
  data: Json,
  split: Split,
  /** Names a stratum that is reported on its own, for example `single-hop` or `composed`. */
  tier: z.string().optional(),
  /**
   * Names tasks that are learned alike: one wording, one path through the tools. Learning tracks success by family and brings
   * back those on which nothing succeeds. Omitted: found from the words of the instructions.
   */
  family: z.string().optional(),
})
export type Task<S extends Split = Split> = Omit<z.infer<typeof Task>, 'split'> & { readonly split: S }

/** What an Optimizer may see: the type does not admit a held-out task. */
export type LearnableTask = Task<'train' | 'validation'>
/** What a Gate judges by, and nothing else. */
export type HoldoutTask = Task<'holdout'>
