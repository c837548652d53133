import type { Models } from '../../../agent/index.ts'
import { LearnError } from '../../errors.ts'
import type { Schedule } from './schedule.ts'

const names = ['temperature', 'explorationTemperature'] as const

/**
 * A schedule for what samples: where that draws at temperature 1 alone, a temperature that the schedule leaves open is 1.
 * @throws LearnError (`learn/sampler-lacks`) for another one that it names.
 */
export function withTemperatures(given: Partial<Schedule>, models: Models): Partial<Schedule> {
  const fixed = [...models.values()].find(({ sampler }) => sampler.capabilities.temperatures === false)
  if (!fixed) return given
  const named = names.find((name) => (given[name] ?? 1) !== 1)
  if (named === undefined) return { ...given, temperature: 1, explorationTemperature: 1 }
  throw new LearnError({
    code: 'learn/sampler-lacks',
    message: `schedule.${named} is ${given[named]}, and "${fixed.base}" is sampled from at temperature 1 alone.`,
    hint: `Leave schedule.${named} out.`,
  })
}
