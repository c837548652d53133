import { groupAttempts, rng, sampledTokens, type Task, type WeightsImitation } from '../../../core/index.ts'
import { present } from '../../../errors/index.ts'
import { averagePass, settledWeights } from './average.ts'
import { informativeOf } from './attempts.ts'
import { runBatch, whileLoaded } from '../../episodes.ts'
import { successRate } from './evaluate.ts'
import { cannotPrime } from '../../errors.ts'
import type { RolloutRun } from './rollout-run.ts'
import { successesIn, thinned } from './rehearsal.ts'
import { afterLook, bestLook, diagnose, recorded } from '../../steer/index.ts'
import { checkJob } from './check-job.ts'
import { attemptedIn, refuseNoise } from './update.ts'

/**
 * Imitates the demonstrations, so that the policy acts in the right form and rewards begin to differ: for a given number of
 * passes, or until practice teaches more than imitation does. A new run's job is checked first. Ends by keeping the primed
 * adapter.
 * @throws LearnError where imitation does not lead to anything that practice could learn from, with what is wrong.
 */
export async function prime(run: RolloutRun): Promise<void> {
  const { primePasses } = run.schedule
  if (run.options.check !== false && run.state.passes === 0) await checkJob(run)
  if (run.demonstrations.given.length > 0) {
    if (primePasses === undefined) await imitateToTarget(run)
    else while (run.state.passes < primePasses) await pass(run, primePasses)
  }
  if (run.blobs['primed'] === undefined) await run.keep('primed', await settledWeights(run))
  await run.trainer.loadWeights(present(await run.kept('primed'), 'the primed weights'), 'keep')
  run.keepSteady()
}

/** One pass over the demonstrations, in a fresh order. */
async function pass(run: RolloutRun, passes: number): Promise<void> {
  const { seed = 0, signal, prime: priming } = run.options
  signal?.throwIfAborted()
  const began = run.clock.now()
  const number = run.state.passes + 1
  const metrics = await imitationOf(run).imitate({
    trainer: run.trainer,
    demonstrations: demonstrationsOf(run, number),
    rng: rng('prime', seed, number),
    ...(priming?.supervised && { defaults: priming.supervised }),
  })
  await averagePass(run, run.state.passes)
  run.state = {
    ...run.state,
    passes: number,
    tokensTrained: run.state.tokensTrained + (metrics.tokens ?? 0),
    learningSeconds: run.state.learningSeconds + (run.clock.now() - began) / 1000,
  }
  run.emit({ type: 'primed', pass: number, passes, metrics, seconds: run.state.learningSeconds })
  await run.checkpoint()
}

/** What imitates demonstrations: they are refused where nothing does. */
export const imitationOf = ({ plan }: Pick<RolloutRun, 'plan'>): WeightsImitation =>
  present(plan.imitation, 'what imitates demonstrations')

/** What a pass imitates. The first one shows what really was: names as they go together. */
export const demonstrationsOf = ({ options, schedule, demonstrations }: RolloutRun, pass: number) =>
  demonstrations.drawn(pass === 1 ? 0 : schedule.augmentation, rng('augmented', options.seed ?? 0, pass))

/** Passes between two looks: each look costs about as much as these. */
const passesPerLook = 4
/** Tasks of a look, and attempts at each. */
const lookTasks = 24
const lookAttempts = 4

async function imitateToTarget(run: RolloutRun): Promise<void> {
  const { primePassesAtMost: passes, primeSuccess, primeInformative } = run.schedule
  const target = { success: primeSuccess, informative: primeInformative, patience: 2, passes, hopeless: 1 / lookTasks }
  const verdict = () => afterLook(run.state.looks, target)
  while (verdict() === 'imitate') {
    const next = Math.min(passes, (run.state.looks.at(-1)?.pass ?? 0) + passesPerLook)
    while (run.state.passes < next) await pass(run, passes)
    await look(run)
    await run.checkpoint()
  }
  const last = run.state.looks.at(-1)
  if (verdict() === 'hopeless' && last) throw cannotPrime(last.pass, last.diagnosis)
  if (verdict() === 'ready') await run.keep('primed', await settledWeights(run))
}

/** Attempts at training tasks that were not demonstrated, as an update would make them, by the average of the passes. */
async function look(run: RolloutRun): Promise<void> {
  const began = run.clock.now()
  const { options, schedule, state } = run
  const inForce = run.inForce(run.servingVersion.id, 0)
  const weights = await settledWeights(run)
  const scored = await whileLoaded(options.model.sampler, await options.model.loadAdapter(weights), (adapter) =>
    runBatch(
      run,
      { adapter, inForce, temperature: schedule.temperature },
      { name: `prime/pass-${state.passes}`, tasks: lookedAt(run), attempts: lookAttempts },
    ),
  )
  refuseNoise(scored)
  const attempted = attemptedIn(run, scored)
  const groups = groupAttempts(scored)
  const success = successRate(scored, options.reward.ceiling).success ?? 0
  const seen = {
    pass: state.passes,
    success,
    informative: informativeOf(scored) / Math.max(1, groups.length),
    diagnosis: diagnose(scored, options.reward.ceiling),
  }
  const successes = thinned([...state.successes, ...successesIn(groups, options.reward.ceiling, run.familyOf)])
  run.rehearsal.remember(successes, scored)
  const looks = [...state.looks, seen]
  run.state = {
    ...state,
    looks,
    // The policy changes too fast for what was seen before to count.
    standing: recorded({}, attempted),
    successes,
    episodes: state.episodes + scored.length,
    tokensSampled: state.tokensSampled + scored.reduce((sum, { trajectory }) => sum + sampledTokens(trajectory), 0),
    learningSeconds: state.learningSeconds + (run.clock.now() - began) / 1000,
  }
  if (bestLook(looks) === seen) await run.keep('primed', weights)
  run.emit({ type: 'looked', ...seen })
}

/** Of every family some: the first ones of a fixed order that were not demonstrated. */
function lookedAt({ options, demonstrations, familyOf }: RolloutRun): readonly Task<'train'>[] {
  const { train } = options.source
  const shown = new Set(demonstrations.given.map(({ instruction }) => instruction))
  const order = rng('look', options.seed ?? 0).shuffle(train.filter(({ instruction }) => !shown.has(instruction)))
  const turns = new Map<string, number>()
  const ranked = (order.length > 0 ? order : train).map((task) => {
    const turn = turns.get(familyOf(task)) ?? 0
    turns.set(familyOf(task), turn + 1)
    return { task, turn }
  })
  return ranked
    .toSorted((a, b) => a.turn - b.turn)
    .slice(0, lookTasks)
    .map(({ task }) => task)
}
