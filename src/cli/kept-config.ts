import { z } from 'zod'
import type { Run } from '../core/index.ts'
import { LearnConfig } from '../recipe/index.ts'

/**
 * What a run keeps of its configuration, for `LearnConfig` to read: runs of versions that had no other precision do not say
 * theirs. Anything but an object stays as it is.
 */
export const keptConfig = (learn: unknown): unknown =>
  typeof learn === 'object' && learn !== null ? { precision: 'float32', ...learn } : learn

/** The configuration that `ratchet learn` began a run with; `null` for a run of a program, and for one over traffic. */
export function configOfRun({ config }: Pick<Run, 'config'>): LearnConfig | null {
  const kept = z.object({ learn: z.json() }).safeParse(config)
  return LearnConfig.safeParse(keptConfig(kept.data?.learn)).data ?? null
}
