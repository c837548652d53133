import { z } from 'zod'
import { canonicalJson, Json, type Run } from '../../core/index.ts'
import { LearnConfig } from '../learn-config.ts'
import type { Reproduction } from './run-report.ts'

/** What `ratchet learn` keeps with a run; a run of another program has none of it. */
const Kept = z.object({
  learn: Json.optional(),
  control: z.boolean().catch(false),
  deterministic: z.boolean().catch(false),
})

/** The command line that repeats a run, and the configuration file it needs. */
export function reproduce({ id, seed, config }: Run): Reproduction {
  const kept = Kept.safeParse(config)
  if (!kept.success) return { command: `ratchet learn --seed ${seed}`, config: null }
  const { learn, control, deterministic } = kept.data
  const usual = learn === undefined || canonicalJson(learn) === canonicalJson(z.json().parse(LearnConfig.parse({})))
  const file = `${id}.json`
  const flags = [
    `--seed ${seed}`,
    ...(usual ? [] : [`--config ${file}`]),
    ...(control ? ['--control'] : []),
    ...(deterministic ? ['--deterministic'] : []),
  ]
  return { command: `ratchet learn ${flags.join(' ')}`, config: usual ? null : { file, content: learn } }
}
