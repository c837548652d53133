import { isRising } from '../../steer/index.ts'
import type { EndReason } from '../../events.ts'
import type { RolloutRun } from './rollout-run.ts'

type Learning = Pick<RolloutRun, 'state' | 'schedule'>

/**
 * How many times its patience a run waits for a rise, which can come in steps: longest where it has learned much and has
 * something left to learn.
 */
const waits = (success: number): number => (success >= 0.95 ? 1 : success >= 0.5 ? 3 : 2)

/** By which setting of the schedule updating ends, or `stopped` where nothing is left to learn from; `null`: it goes on. */
export function enough({ state, schedule }: Learning): EndReason | 'stopped' | null {
  const success = state.best?.success ?? 0
  if (state.stopped !== null) return 'stopped'
  if (state.update >= schedule.updates) return 'updates'
  if (schedule.target !== null && success >= schedule.target) return 'target'
  if (state.learningSeconds >= (schedule.seconds ?? Number.POSITIVE_INFINITY)) return 'seconds'
  if (state.learningSeconds >= limitOf({ state, schedule })) return 'goodEnough'
  const isStill =
    schedule.patience !== null &&
    state.update - (state.risen?.update ?? 0) >= waits(success) * schedule.patience * schedule.validateEvery &&
    !isRising(state.signs, schedule.validateEvery / 2)
  return isStill ? 'patience' : null
}

/** The same for people. */
export function endInWords(reason: EndReason, { state: { update, best } }: Pick<Learning, 'state'>): string {
  const validation = `${Math.round(100 * (best?.success ?? 0))} % of validation succeeds`
  const words: Readonly<Record<EndReason, string>> = {
    updates: `All ${update} updates are done.`,
    target: `${validation}: that is the target.`,
    seconds: 'The time is over.',
    goodEnough: `The time is over, and ${validation} at best.`,
    patience: `Success rises no more; ${validation} at best.`,
  }
  return words[reason]
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
