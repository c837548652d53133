import { z } from 'zod'
import { canonicalJson, Json, type Run } from '../core/index.ts'
import { LearnConfig } from '../recipe/index.ts'
import type { Reproduction } from '../report/index.ts'
import { keptConfig } from './kept-config.ts'
import { goodEnoughAfter } from './plan.ts'

/** What `ratchet learn` keeps with a run, beside its configuration. */
const Kept = z.object({
  learn: z.preprocess(keptConfig, Json),
  control: z.boolean().catch(false),
  deterministic: z.boolean().catch(false),
})

/**
 * The command line that repeats a run, and the configuration file it needs; `null` for a run of a program of one's own, for one
 * over traffic, which has passed, and for a configuration that this version does not read.
 */
export function reproduce({ id, seed, config }: Pick<Run, 'id' | 'seed' | 'config'>): Reproduction | null {
  const kept = Kept.safeParse(config)
  const learned = LearnConfig.safeParse(kept.data?.learn)
  if (!kept.success || !learned.success) return null
  const { learn, control, deterministic } = kept.data
  const { precision, schedule } = learned.data
  const minutes = (schedule.goodEnough?.seconds ?? 0) / 60
  const goodEnough = minutes > 0 ? goodEnoughAfter(minutes) : null
  const flagged = LearnConfig.parse({ precision, schedule: { goodEnough } })
  const usual = canonicalJson(learn) === canonicalJson(z.json().parse(flagged))
  const file = `${id}.json`
  const flags = [
    `--seed ${seed}`,
    ...(usual ? [`--precision ${precision}`] : [`--config ${file}`]),
    ...(usual && minutes > 0 ? [`--minutes ${minutes}`] : []),
    ...(control ? ['--control'] : []),
    ...(deterministic ? ['--deterministic'] : []),
  ]
  return { arguments: `learn ${flags.join(' ')}`, config: usual ? null : { file, content: learn } }
}
