import { backward, policySamples } from '../../../agent/index.ts'
import {
  type CreditCounts,
  groupAttempts,
  type Metrics,
  rng,
  sampledTokens,
  type ScoredTrajectory,
  savedAt,
} from '../../../core/index.ts'
import { present } from '../../../errors/index.ts'
import { averageUpdate } from './average.ts'
import { attemptTasks, informativeOf, type Sampled } from './attempts.ts'
import { whileLearning } from './acting.ts'
import { LearnError } from '../../errors.ts'
import { explore, wonByExploring } from './explore.ts'
import { succeeded, successRate } from './evaluate.ts'
import { imitate } from './imitate.ts'
import { guardCounts } from '../../judge.ts'
import type { Turn } from '../../../optimize/weights/index.ts'
import { withEarned } from '../../run/earned.ts'
import { finite } from '../../run/finite.ts'
import type { RolloutRun } from './rollout-run.ts'
import { prefer } from './prefer.ts'
import { recipe } from './recipe.ts'
import { successesIn, thinned } from './rehearsal.ts'
import { wantedGroups } from './schedule.ts'
import {
  adapted,
  type Attempted,
  collapsed,
  deadFamilies,
  overallRate,
  paceOf,
  reasonToStop,
  recorded,
  repeatability,
  settledPace,
  shortened,
} from '../../steer/index.ts'

/** One update: roll out → watch → credit → backward → step. A batch that shows a collapse is not learned from. */
export async function update(run: RolloutRun): Promise<void> {
  const began = run.clock.now()
  const { state, options } = run
  const { scored, first, rounds, explored } = await whileLearning(run, async (actor) => ({
    ...(await attemptTasks(run, actor)),
    explored: run.trained?.plan.imitation ? await explore(run, actor) : [],
  }))
  refuseNoise(scored)
  const attempted = attemptedIn(run, first)
  const sampled = [...scored, ...explored].reduce((sum, { trajectory }) => sum + sampledTokens(trajectory), 0)
  run.state = {
    ...state,
    episodes: state.episodes + scored.length + explored.length,
    tokensSampled: state.tokensSampled + sampled,
  }
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
  if (run.trained) {
    const successes = thinned([
      ...state.successes,
      ...successesIn(groups, options.reward.ceiling, run.familyOf),
      ...wonByExploring(run, explored),
    ])
    run.state = { ...run.state, successes }
    if (state.update % steadyEvery === 0) run.keepSampled()
    run.rehearsal.remember(successes, [...scored, ...explored])
  }
  const earlyPreferred = isBeforePractice(run, 'prefer') ? await prefer(run, groups) : null
  const early = isBeforePractice(run, 'imitate') ? await imitate(run) : null
  const { metrics, counts } = await learnFrom(run, scored, informative)
  const imitated = early ?? (run.trained ? await imitate(run) : {})
  const preferred = earlyPreferred ?? (await prefer(run, groups))
  if (run.trained) await averageUpdate(run, state.update, sign.overall)
  // Before the first of several steps, fresh samples have moved from nothing.
  const moved = (metrics.steps ?? 0) > 1 ? (metrics.kl ?? null) : null
  run.state = { ...run.state, stride: adapted(run.state.stride, moved) }
  const dead = deadFamilies(standing)
  const brokenCalls = scored.reduce((sum, one) => sum + (guardCounts(one).brokenCalls ?? 0), 0)
  const watched = {
    informativeGroups: informative,
    rounds,
    overall: sign.overall,
    deadFamilies: dead.length,
    explored: explored.length,
  }
  tell(
    run,
    { first, tokens: sampled },
    { ...metrics, ...imitated, ...preferred, ...counts, ...watched, brokenCalls },
    (run.clock.now() - began) / 1000,
  )
  tellFamilies(run, dead)
  stopWithoutSignal(run, scored)
}

/** Whether a lesson takes its turn before the policy gradient, as a sequence can say. */
function isBeforePractice({ trained }: RolloutRun, turn: Turn): boolean {
  const turns = trained?.plan.turns ?? []
  return turns.includes(turn) && turns.indexOf(turn) < turns.indexOf('practise')
}

/** What each attempt came to; one without evidence says nothing. */
export function attemptedIn(run: RolloutRun, scored: readonly ScoredTrajectory[]): readonly Attempted[] {
  return scored.flatMap(({ trajectory, reward }) => {
    const success = succeeded(reward, run.options.reward.ceiling)
    return success === null ? [] : [{ task: trajectory.task.id, family: run.familyOf(trajectory.task), success }]
  })
}

async function learnFrom(
  run: RolloutRun,
  scored: readonly ScoredTrajectory[],
  informative: number,
): Promise<{ readonly metrics: Metrics; readonly counts: CreditCounts }> {
  const { options, schedule, state } = run
  const { credits, counts } = await options.credit.credit(groupAttempts(scored), {
    signals: new Map(),
    rng: rng('credit', options.seed ?? 0, state.update),
    asOf: run.clock.now(),
  })
  const batch = { trajectories: scored.map(({ trajectory }) => trajectory), credits }
  const others = await run.learners.step({ ...batch, credits: withEarned(credits, scored) }, state.update)
  const practice = run.trained?.plan.practice
  if (!practice) return { metrics: others, counts }
  const { metrics } = await practice.step({
    current: run.currentWeights,
    gradients: backward(batch, { parameter: run.parameter, rule: policySamples }),
    trainer: run.trainer,
    sampler: options.model.sampler,
    update: state.update,
    rng: rng('optimize', options.seed ?? 0, state.update),
    pace:
      state.stride.scale *
      paceOf(informative, wantedGroups(schedule)) *
      settledPace(state.signs.at(-1)?.overall ?? 0, recipe.settling.practice),
  })
  return { metrics: { ...finite(metrics), ...others }, counts }
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
 * Goes back to the last steady weights, and takes half the step from there. Other learners stay where they are: a
 * session may hold more than a value, and none has learned from the batch that shows the collapse.
 */
async function recover(run: RolloutRun, scored: readonly ScoredTrajectory[]): Promise<void> {
  const { state, schedule, options } = run
  const rate = successRate(scored, options.reward.ceiling)
  const steady = run.trained ? present(state.steady, 'a steady checkpoint') : { update: state.update, standing: {} }
  if (run.trained) {
    run.forget('average')
    await run.trainer.loadState(await savedAt(options.store.blobs, present(run.blobs['steady'], 'its trainer state')))
  }
  const recoveries = state.recoveries + 1
  const stride = shortened(state.stride)
  run.state = { ...run.state, recoveries, stride, standing: steady.standing, signs: [] }
  // The batch is spent: without a fresh number it would be sampled again, by the same weights.
  run.state = { ...run.state, update: state.update + 1 }
  run.emit({
    type: 'recovered',
    update: state.update + 1,
    rollouts: rate,
    to: steady.update,
    scale: stride.scale,
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
  const silent = run.trained ? run.schedule.silentUpdates : 0
  const never = Number.POSITIVE_INFINITY
  const reason = reasonToStop(run.state.signs, { silent: silent || never, still: still || never })
  if (reason === null) return
  const words = {
    silent: `In the last ${silent} updates hardly a group of attempts differed in reward: there is nothing to learn from.`,
    still: `Success has not risen for ${still} updates.`,
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
  { first, tokens }: Pick<Sampled, 'first'> & { readonly tokens: number },
  metrics: Metrics,
  seconds: number,
) {
  const trained = (metrics.tokens ?? 0) + (metrics.imitationTokens ?? 0) + (metrics.preferenceTokens ?? 0)
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
    rollouts: successRate(first, run.options.reward.ceiling),
    reward: rewards.length === 0 ? null : rewards.reduce((sum, reward) => sum + reward, 0) / rewards.length,
    metrics,
    tokensSampled: tokens,
    // A clock that ticks in milliseconds can see no time pass.
    tokensPerSecond: (tokens + trained) / Math.max(seconds, 0.001),
    seconds: soFar,
    etaSeconds: ((run.schedule.updates - at) * soFar) / at,
  })
}
