import { z } from 'zod'
import { canonicalJson, Json, type Run } from '../core/index.ts'
import { LearnConfig } from '../recipe/index.ts'
import type { Reproduction } from '../report/index.ts'

/** What `ratchet learn` keeps with a run. */
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
  if (!kept.success || !LearnConfig.safeParse(kept.data.learn).success) return null
  const { learn, control, deterministic } = kept.data
  const usual = canonicalJson(learn) === canonicalJson(z.json().parse(LearnConfig.parse({})))
  const file = `${id}.json`
  const flags = [
    `--seed ${seed}`,
    ...(usual ? [] : [`--config ${file}`]),
    ...(control ? ['--control'] : []),
    ...(deterministic ? ['--deterministic'] : []),
  ]
  return { arguments: `learn ${flags.join(' ')}`, config: usual ? null : { file, content: learn } }
}
