import { isRising } from '../../steer/index.ts'
import type { RolloutRun } from './rollout-run.ts'

type Learning = Pick<RolloutRun, 'state' | 'schedule'>

/** Success above which little is left to learn: below it a run waits twice as long for a rise, which can come in steps. */
const nearlyAll = 0.95

/** Whether updating ends: the schedule says so, or nothing is left to learn from. */
export function enough({ state, schedule }: Learning): boolean {
  const success = state.best?.success ?? 0
  const waits = success < nearlyAll ? 2 : 1
  return (
    state.stopped !== null ||
    state.update >= schedule.updates ||
    state.learningSeconds >= limitOf({ state, schedule }) ||
    (schedule.target !== null && success >= schedule.target) ||
    (schedule.patience !== null &&
      state.update - (state.risen?.update ?? 0) >= waits * schedule.patience * schedule.validateEvery &&
      !isRising(state.signs, schedule.validateEvery / 2))
  )
}

/** How many more seconds updating takes at most, as far as is known, where an update takes so many. */
export function secondsLeft(learning: Learning, each: number): number {
  const { state, schedule } = learning
  const byClock = Math.max(0, limitOf(learning) - state.learningSeconds)
  return Math.min((schedule.updates - state.update) * each, byClock)
}

/** The seconds of learning at which updating ends, by what validation has come to. */
function limitOf({ state: { best }, schedule: { seconds, goodEnough } }: Learning): number {
  const whatever = seconds ?? Number.POSITIVE_INFINITY
  return goodEnough !== null && (best?.success ?? 0) >= goodEnough.success
    ? Math.min(whatever, goodEnough.seconds)
    : whatever
}
