import { isDeepStrictEqual } from 'node:util'
import type { Json, ModelService } from '../core/index.ts'
import { verify } from '../environment/search/index.ts'
import { pairedGate } from '../gate/index.ts'
import { type RolloutOptions, recipe, Schedule, scheduleOf } from '../learn/index.ts'
import { policyGradient } from '../optimize/weights/index.ts'
import { brokenCalls, noAnswer, repetition, rubric, verifier } from '../reward/index.ts'
import { creditOf } from './credit.ts'
import type { Plan } from './plan.ts'
import type { SearchJob } from './search-job.ts'

/**
 * The pieces of the loop that a configuration names, put together; only the store is missing.
 * @throws RatchetError for pieces that cannot be made, or do not go together.
 */
export async function learnOptions(
  { config, seed, control, deterministic, resume }: Plan,
  { source, demonstrations, baselines }: SearchJob,
  model: ModelService,
): Promise<Omit<RolloutOptions, 'store'>> {
  const { kl, ...policy } = config.policy
  const method = {
    kind: 'lora',
    rank: config.adapter.rank,
    alpha: config.adapter.alpha ?? config.adapter.rank,
  } as const
  const options: Omit<RolloutOptions, 'store'> = {
    model,
    source,
    ...(demonstrations.length > 0 ? { prime: { demonstrations, supervised: config.prime } } : {}),
    reward: rubric(
      { solved: verifier(verify, 'search-answer') },
      { guards: [brokenCalls(), noAnswer({ tool: 'answer' }), repetition()] },
    ),
    baselines,
    credit: creditOf(config),
    optimize: {
      // A new LoRA is the base model exactly. What takes no step needs no seed, and goes with the model.
      model: policyGradient({ ...policy, ...(kl && { kl: { ...kl, reference: await model.trainer(method, 0) } }) }),
    },
    gate: pairedGate({
      ...config.gate,
      guards: recipe.gate.guards,
    }),
    method,
    budget: config.episode,
    schedule: unusual(config.schedule),
    control,
    seed,
    deterministic,
    ...(resume === null ? {} : { resume }),
    config: { learn: config as unknown as Json, control },
  }
  scheduleOf(options)
  return options
}

/** What of a schedule is not as by default. The rest is left open, so that it fits the model: a server can do less. */
function unusual(schedule: Schedule): Partial<Schedule> {
  const usual: Readonly<Record<string, unknown>> = Schedule.parse({})
  const entries = Object.entries(schedule).filter(([name, value]) => !isDeepStrictEqual(value, usual[name]))
  return Object.fromEntries(entries) as Partial<Schedule>
}
