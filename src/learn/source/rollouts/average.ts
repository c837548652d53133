import type { Saved } from '../../../core/index.ts'
import { InvariantError } from '../../../errors/index.ts'
import { blendedWeights } from '../../../model/index.ts'
import type { RolloutRun } from './rollout-run.ts'

/** What an average is kept in. */
type Averaging = Pick<RolloutRun, 'schedule' | 'trainer' | 'kept' | 'keep'>

/** Updates after which learning goes on from the average, while steps are large. */
const returns = 4
const settled = 0.7
/** Passes change the weights more than updates do: what was before is let go of sooner. */
const ofPasses = 0.7

/**
 * Moves the average of the run's weights towards those of now, after an update. Each update goes a little astray, and the
 * average less: it is what validation measures and what is released (Polyak & Juditsky 1992; of the latest checkpoints:
 * Kaddour 2022, LAWA). Learning goes on from it after each validation, and more often while little succeeds (Zhang et al.
 * 2019, Lookahead).
 * @param overall the success of attempts.
 */
export async function averageUpdate(run: Averaging, update: number, overall: number): Promise<void> {
  const { averaging, validateEvery } = run.schedule
  if (averaging === 0) return
  const average = await moved(run, update, averaging)
  const every = overall < settled ? Math.min(returns, validateEvery) : validateEvery
  if ((update + 1) % every === 0) await run.trainer.loadWeights(average, 'keep')
}

/** Moves the average after a pass of imitation. Practice begins with it; imitation goes on from where it is. */
export async function averagePass(run: Averaging, pass: number): Promise<void> {
  const { averaging } = run.schedule
  if (averaging > 0) await moved(run, pass, Math.min(averaging, ofPasses))
}

/** The average where there is one, else the weights as they are. */
export const settledWeights = async (run: Averaging): Promise<Saved> =>
  (await run.kept('average')) ?? run.trainer.saveWeights()

async function moved(run: Averaging, turn: number, most: number): Promise<Uint8Array> {
  const weights = bytesIn(await run.trainer.saveWeights())
  const earlier = turn === 0 ? null : await run.kept('average')
  const before = earlier && bytesIn(earlier)
  const average = before === null ? weights : blendedWeights(before, weights, keptAt(turn, most))
  await run.keep('average', average)
  return average
}

/** Trainers that save no bytes are refused an average before a run starts. */
function bytesIn(saved: Saved): Uint8Array {
  if (saved instanceof Uint8Array) return saved
  throw new InvariantError('an average of weights that only their server has')
}

/** What is kept after so many turns: in the first ones less, so that the average does not hold on to where it began. */
const keptAt = (turns: number, most: number): number => Math.min(most, turns / (turns + 2))
