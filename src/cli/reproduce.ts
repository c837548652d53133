import { z } from 'zod'
import { canonicalJson, Json, type Run } from '../core/index.ts'
import { LearnConfig } from '../recipe/index.ts'
import type { Reproduction } from '../report/index.ts'
import { configOfRun, keptConfig } from './kept-config.ts'
import { goodEnoughAfter } from './plan.ts'

/** What `ratchet learn` keeps with a run, beside its configuration. */
const Kept = z.object({
  learn: Json,
  control: z.boolean().catch(false),
  deterministic: z.boolean().catch(false),
})

/**
 * The command line that repeats a run, and the configuration file it needs; `null` for a run of a program of one's own, and
 * for one over traffic, which has passed.
 */
export function reproduce({ id, seed, config }: Pick<Run, 'id' | 'seed' | 'config'>): Reproduction | null {
  const kept = Kept.safeParse(config)
  const learned = configOfRun({ config })
  if (!kept.success || learned === null) return null
  const { control, deterministic } = kept.data
  const learn = Json.parse(keptConfig(kept.data.learn))
  const { precision, schedule } = learned
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
