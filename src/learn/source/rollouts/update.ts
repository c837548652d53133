import {
  type CreditCounts,
  groupAttempts,
  type Metrics,
  rng,
  sampledTokens,
  type ScoredTrajectory,
} from '../../../core/index.ts'
import { present } from '../../../errors/index.ts'
import { averageUpdate } from './average.ts'
import { attemptTasks, informativeOf, type Sampled } from './attempts.ts'
import { whileLearning } from './acting.ts'
import { LearnError } from '../../errors.ts'
import { secondsLeft } from './enough.ts'
import { explore, wonByExploring } from './explore.ts'
import { succeeded, successRate } from './evaluate.ts'
import { forceOtherActs } from './force.ts'
import { guardCounts } from '../../judge.ts'
import { learnWeights, type Moved } from './learn-weights.ts'
import { inRangeOf, withEarned } from '../../run/earned.ts'
import type { RolloutRun } from './rollout-run.ts'
import { successesIn, thinned } from './rehearsal.ts'
import {
  type Attempted,
  collapsed,
  deadFamilies,
  overallRate,
  reasonToStop,
  recorded,
  repeatability,
  shortened,
} from '../../steer/index.ts'

/** One update: roll out → watch → credit → backward → step. A batch that shows a collapse is not learned from. */
export async function update(run: RolloutRun): Promise<void> {
  const began = run.clock.now()
  const { state, schedule } = run
  const { scored, first, rounds, explored, forced } = await whileLearning(run, async (actor) => {
    const sampled = await attemptTasks(run, actor)
    return {
      ...sampled,
      explored: run.weights.some(({ plan }) => plan.imitation) ? await explore(run, actor) : [],
      forced: await forceOtherActs(run, actor, sampled.scored),
    }
  })
  refuseNoise(scored)
  const attempted = attemptedIn(run, first)
  const all = [...scored, ...explored, ...forced.scored]
  const sampled = all.reduce((sum, { trajectory }) => sum + sampledTokens(trajectory), 0)
  run.state = {
    ...state,
    forced: forced.standing,
    episodes: state.episodes + all.length,
    tokensSampled: state.tokensSampled + sampled,
  }
  run.missing.watch(all)
  if (collapsed(state.standing, attempted)) return recover(run, first)

  const groups = groupAttempts(scored)
  const informative = informativeOf(scored)
  const standing = recorded(state.standing, attempted)
  const sign = {
    update: state.update + 1,
    groups: groups.length,
    informative,
    overall: overallRate(standing, run.familySizes),
  }
  run.state = { ...run.state, standing, signs: [...state.signs, sign] }
  const wonForced = wonByExploring(run, forced.won)
  if (run.weights.length > 0) {
    const successes = thinned([
      ...state.successes,
      ...successesIn(groups, run.successThreshold, run.familyOf),
      ...wonByExploring(run, explored),
      ...wonForced,
    ])
    run.state = { ...run.state, successes }
    if (state.update % steadyEvery === 0) run.keepSampled()
    run.rehearsal.remember(successes, all)
  }
  const { metrics, counts, trained } = await learnFrom(run, scored, informative)
  for (const one of run.weights) await averageUpdate(one, schedule, state.update, sign.overall)
  const dead = deadFamilies(standing)
  const brokenCalls = scored.reduce((sum, one) => sum + (guardCounts(one).brokenCalls ?? 0), 0)
  const watched = {
    informativeGroups: informative,
    rounds,
    overall: sign.overall,
    deadFamilies: dead.length,
    explored: explored.length,
    forced: forced.scored.length,
    forcedWon: wonForced.length,
  }
  tell(
    run,
    { first, sampled, trained },
    { ...metrics, ...counts, ...watched, brokenCalls },
    (run.clock.now() - began) / 1000,
  )
  tellFamilies(run, dead)
  stopWithoutSignal(run, scored)
}

/** What each attempt came to; one without evidence says nothing. */
export function attemptedIn(run: RolloutRun, scored: readonly ScoredTrajectory[]): readonly Attempted[] {
  return scored.flatMap(({ trajectory, reward }) => {
    const success = succeeded(reward, run.successThreshold)
    return success === null ? [] : [{ task: trajectory.task.id, family: run.familyOf(trajectory.task), success }]
  })
}

/** Credits the attempts; what learns from its own decisions takes its step: sessions first, then the weights. */
async function learnFrom(
  run: RolloutRun,
  scored: readonly ScoredTrajectory[],
  informative: number,
): Promise<Moved & { readonly counts: CreditCounts }> {
  const { options, state } = run
  const groups = groupAttempts(scored)
  const { credits, counts } = await options.credit.credit(groups, {
    signals: new Map(),
    rng: rng('credit', options.seed ?? 0, state.update),
    asOf: run.clock.now(),
  })
  const batch = {
    trajectories: scored.map(({ trajectory }) => trajectory),
    credits: inRangeOf(options.reward, withEarned(credits, scored, options.reward)),
  }
  const others = await run.learners.step(batch, state.update)
  const { metrics, trained } = await learnWeights(run, { groups, batch, informative })
  return { metrics: { ...metrics, ...others }, trained, counts }
}

/** @throws LearnError for a reward that does not follow from what was done. */
export function refuseNoise(scored: readonly ScoredTrajectory[]): void {
  const { noise, chance, comparisons } = repeatability(scored)
  if (!noise) return
  throw new LearnError({
    code: 'learn/noisy-reward',
    message: `The reward is noise: among attempts that did exactly the same, it varies ${Math.round(100 * chance)} % as much as among all (${comparisons} comparisons).`,
    hint: 'Make the verifier read only the final state, and nothing random: equal ends must earn equal rewards.',
  })
}

/**
 * Goes back to the last steady weights, and takes half the step from there; of several all do, as nothing tells which of them
 * failed. Other learners stay where they are: a session may hold more than a value, and none has learned from the batch that
 * shows the collapse.
 */
async function recover(run: RolloutRun, scored: readonly ScoredTrajectory[]): Promise<void> {
  const { state, schedule } = run
  const rate = successRate(scored, run.successThreshold)
  const trains = run.weights.length > 0
  const steady = trains ? present(state.steady, 'a steady checkpoint') : { update: state.update, standing: {} }
  for (const one of run.weights) {
    one.forget('average')
    await one.trainer.loadState(present(await one.kept('steady'), 'its trainer state'))
    one.advance({ stride: shortened(one.state.stride) })
  }
  const recoveries = state.recoveries + 1
  const scale = run.weights.reduce((most, one) => Math.max(most, one.state.stride.scale), 0)
  run.state = { ...run.state, recoveries, standing: steady.standing, signs: [] }
  // The batch is spent: without a fresh number it would be sampled again, by the same weights.
  run.state = { ...run.state, update: state.update + 1 }
  run.emit({
    type: 'recovered',
    update: state.update + 1,
    rollouts: rate,
    to: steady.update,
    scale,
    recoveries,
  })
  if (recoveries > schedule.recoveries) run.stop('collapsed', 'Success collapsed again after every return.', scored)
}

/**
 * Updates between steady checkpoints: a fall is often seen two or three updates after the step that caused it. Only weights
 * whose own batch showed none are steady.
 */
const steadyEvery = 4

function stopWithoutSignal(run: RolloutRun, scored: readonly ScoredTrajectory[]): void {
  const { stillUpdates: still } = run.schedule
  // An optimizer of another kind may evaluate, and learn where no group differs.
  const silent = run.weights.length > 0 ? run.schedule.silentUpdates : 0
  const never = Number.POSITIVE_INFINITY
  const reason = reasonToStop(run.state.signs, { silent: silent || never, still: still || never })
  // Attempts are drawn where they fail: validation can rise while their success does not.
  const rises = run.state.update - (run.state.risen?.update ?? 0) < still
  if (reason === null || (reason === 'still' && rises)) return
  const words = {
    silent: `In the last ${silent} updates hardly a group of attempts differed in reward: there is nothing to learn from.`,
    still: `Neither success nor validation has risen for ${still} updates.`,
  }
  run.stop(reason, words[reason], scored)
}

function tellFamilies(run: RolloutRun, dead: readonly string[]): void {
  const { update: at, standing } = run.state
  if (at % familiesEvery !== 0 && at !== 1) return
  const families = Object.entries(standing).map(([family, { attempts, successes }]) => ({
    family,
    rate: attempts === 0 ? null : successes / attempts,
    tasks: run.familySizes.get(family) ?? 0,
    dead: dead.includes(family),
  }))
  run.emit({ type: 'families', update: at, families })
}

/** Updates between two tellings of the families. */
const familiesEvery = 8

function tell(
  run: RolloutRun,
  { first, sampled, trained }: Pick<Sampled, 'first'> & { readonly sampled: number; readonly trained: number },
  metrics: Metrics,
  seconds: number,
) {
  const rewards = first.flatMap(({ reward }) => (reward.value === null ? [] : [reward.value]))
  const at = run.state.update + 1
  run.state = {
    ...run.state,
    update: at,
    tokensTrained: run.state.tokensTrained + trained,
  }
  const soFar = run.state.learningSeconds + seconds
  run.emit({
    type: 'updated',
    update: at,
    updates: run.schedule.updates,
    rollouts: successRate(first, run.successThreshold),
    reward: rewards.length === 0 ? null : rewards.reduce((sum, reward) => sum + reward, 0) / rewards.length,
    metrics,
    tokensSampled: sampled,
    // A clock that ticks in milliseconds can see no time pass.
    tokensPerSecond: (sampled + trained) / Math.max(seconds, 0.001),
    seconds: soFar,
    etaSeconds: secondsLeft({ state: { ...run.state, learningSeconds: soFar }, schedule: run.schedule }, seconds),
  })
}
