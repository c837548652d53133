import { present } from '../errors/index.ts'
import { blendedWeights } from '../model/index.ts'
import type { LearningRun } from './learning-run.ts'

/** Updates after which learning goes on from the average, while steps are large; small ones it would only slow down. */
const returns = 4
const settled = 0.7

/**
 * Moves the average of the run's weights towards those of now. Each update goes a little astray, and the average less: it is
 * what validation measures and what is released (Polyak & Juditsky 1992; of the latest checkpoints: Kaddour 2022, LAWA).
 * While little succeeds, learning goes on from it after every few updates, too (Zhang et al. 2019, Lookahead).
 */
export async function average(
  run: Pick<LearningRun, 'state' | 'schedule' | 'trainer' | 'kept' | 'keep'>,
): Promise<void> {
  const { update, signs } = run.state
  const weights = await run.trainer.saveWeights()
  const before = await run.kept('average')
  const average = before === null ? weights : blendedWeights(before, weights, keptAt(update, run.schedule.averaging))
  await run.keep('average', average)
  const { overall } = present(signs.at(-1), 'the sign of the update')
  if ((update + 1) % returns === 0 && overall < settled) await run.trainer.loadWeights(average, 'keep')
}

/** What is kept after so many updates: in the first ones less, so that the average does not hold on to where it began. */
const keptAt = (updates: number, most: number): number => Math.min(most, updates / (updates + 2))
