import { z } from 'zod'
import { parseInput, type Run } from '../core/index.ts'
import { fromTraffic } from '../learn/index.ts'
import { LearnConfig } from '../recipe/index.ts'

/**
 * What a run keeps of its configuration, for `LearnConfig` to read: runs of versions that had no other precision do not say
 * theirs. Anything but an object stays as it is.
 */
export const keptConfig = (learn: unknown): unknown =>
  typeof learn === 'object' && learn !== null ? { precision: 'float32', ...learn } : learn

/**
 * The configuration that `ratchet learn` began a run with; `null` for a run of a program, and for one over traffic.
 * @throws InputError for one that this version does not read.
 */
export function configOfRun(run: Pick<Run, 'id' | 'config'>): LearnConfig | null {
  const kept = z.object({ learn: z.json() }).safeParse(run.config)
  if (!kept.success || fromTraffic(run)) return null
  return parseInput(LearnConfig, keptConfig(kept.data.learn), `the configuration of ${run.id}`)
}
