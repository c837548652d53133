import type { Saved } from '../../../core/index.ts'
import { InvariantError } from '../../../errors/index.ts'
import { blendedWeights } from '../../../model/index.ts'
import type { TrainedWeights } from '../../run/trained-weights.ts'
import type { KeptWeights } from './rollout-run.ts'
import type { Schedule } from './schedule.ts'

/** Weights that are averaged. */
type Averaged = Pick<TrainedWeights<KeptWeights>, 'trainer' | 'kept' | 'keep'>

/** Of weights that only their server has there is no average. */
const averagingOf = ({ trainer }: Averaged, { averaging }: Pick<Schedule, 'averaging'>) =>
  trainer.capabilities.saves === 'paths' ? 0 : averaging

/** Updates after which learning goes on from the average, while steps are large. */
const returns = 4
const settled = 0.7
/** Passes change the weights more than updates do: what was before is let go of sooner. */
const ofPasses = 0.7

/**
 * Moves the average of weights towards those of now, after an update. Each update goes a little astray, and the
 * average less: it is what validation measures and what is released (Polyak & Juditsky 1992; of the latest checkpoints:
 * Kaddour 2022, LAWA). Learning goes on from it after each validation, and more often while little succeeds (Zhang et al.
 * 2019, Lookahead).
 * @param overall the success of attempts.
 */
export async function averageUpdate(
  one: Averaged,
  schedule: Pick<Schedule, 'averaging' | 'validateEvery'>,
  update: number,
  overall: number,
): Promise<void> {
  const averaging = averagingOf(one, schedule)
  if (averaging === 0) return
  const average = await moved(one, update, averaging)
  const every = overall < settled ? Math.min(returns, schedule.validateEvery) : schedule.validateEvery
  if ((update + 1) % every === 0) await one.trainer.loadWeights(average, 'keep')
}

/** Moves the average after a pass of imitation. Practice begins with it; imitation goes on from where it is. */
export async function averagePass(one: Averaged, schedule: Pick<Schedule, 'averaging'>, pass: number): Promise<void> {
  const averaging = averagingOf(one, schedule)
  if (averaging > 0) await moved(one, pass, Math.min(averaging, ofPasses))
}

/** The average where there is one, else the weights as they are. */
export const settledWeights = async (one: Averaged): Promise<Saved> =>
  (await one.kept('average')) ?? one.trainer.saveWeights()

async function moved(one: Averaged, turn: number, most: number): Promise<Uint8Array> {
  const weights = bytesIn(await one.trainer.saveWeights())
  const earlier = turn === 0 ? null : await one.kept('average')
  const before = earlier && bytesIn(earlier)
  const average =
    before === null || same(before, weights) ? weights : blendedWeights(before, weights, keptAt(turn, most))
  await one.keep('average', average)
  return average
}

/** Weights that nothing moves stay what they are, to the bit: a blend of equal numbers is rounded. */
const same = (before: Uint8Array, weights: Uint8Array) => Buffer.compare(before, weights) === 0

/** Trainers that save no bytes are refused an average before a run starts. */
function bytesIn(saved: Saved): Uint8Array {
  if (saved instanceof Uint8Array) return saved
  throw new InvariantError('an average of weights that only their server has')
}

/** What is kept after so many turns: in the first ones less, so that the average does not hold on to where it began. */
const keptAt = (turns: number, most: number): number => Math.min(most, turns / (turns + 2))
