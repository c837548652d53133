import { groupAttempts, type ImitationStep, type Metrics, rng, sampledTokens, type Task } from '../../../core/index.ts'
import { present } from '../../../errors/index.ts'
import { averagePass, settledWeights } from './average.ts'
import { informativeOf } from './attempts.ts'
import { runBatch } from '../../episodes.ts'
import { holdOn } from '../../run/anchor.ts'
import { refuseNoGradient } from '../../run/gradient.ts'
import { whileActing } from '../../run/acting-weights.ts'
import { successRate } from './evaluate.ts'
import { cannotPrime } from '../../errors.ts'
import type { TrainedWeights } from '../../run/trained-weights.ts'
import type { KeptWeights, RolloutRun } from './rollout-run.ts'
import { successesIn, thinned } from './rehearsal.ts'
import { afterLook, bestLook, diagnose, recorded } from '../../steer/index.ts'
import { checkJob } from './check-job.ts'
import { startFromLibrary } from './start-from.ts'
import { attemptedIn, refuseNoise } from './update.ts'

/**
 * Imitates the demonstrations, so that the policy acts in the right form and rewards begin to differ: for a given number of
 * passes, or until practice teaches more than imitation does. A new run's job is checked first. Ends by keeping the primed
 * adapter of all weights that learn: of those that imitate nothing it is where they begin.
 * @throws LearnError where imitation does not lead to anything that practice could learn from, with what is wrong.
 */
export async function prime(run: RolloutRun): Promise<void> {
  const { primePasses } = run.schedule
  const { taught } = run
  if (run.options.check !== false && (taught?.state.passes ?? 0) === 0) await checkJob(run)
  for (const one of run.weights) {
    if (one.at('primed') !== null || one.state.passes > 0) continue
    await holdOn(run, one, one.plan.anchoring, () => run.earlier.of(one))
  }
  if (taught && run.demonstrations.given.length > 0) {
    await startFromLibrary(run, taught)
    if (primePasses === undefined) await imitateToTarget(run, taught)
    else while (taught.state.passes < primePasses) await pass(run, taught, primePasses)
  }
  for (const one of run.weights) {
    if (one.at('primed') === null) await one.keep('primed', await settledWeights(one))
    await one.trainer.loadWeights(present(await one.kept('primed'), 'the primed weights'), 'keep')
  }
  run.keepSteady()
}

/** Weights that imitate demonstrations. */
type Taught = TrainedWeights<KeptWeights>

/** One pass over the demonstrations, in a fresh order. */
async function pass(run: RolloutRun, taught: Taught, passes: number): Promise<void> {
  run.options.signal?.throwIfAborted()
  const began = run.clock.now()
  const number = taught.state.passes + 1
  const metrics = await imitatePass(run, taught, { trainer: taught.trainer, pass: number })
  refuseNoGradient(taught.parameter, metrics)
  await averagePass(taught, run.schedule, taught.state.passes)
  taught.advance({ passes: number })
  run.state = {
    ...run.state,
    tokensTrained: run.state.tokensTrained + (metrics.tokens ?? 0),
    learningSeconds: run.state.learningSeconds + (run.clock.now() - began) / 1000,
  }
  run.emit({ type: 'primed', ...taught.named, pass: number, passes, metrics, seconds: run.state.learningSeconds })
  await run.checkpoint()
}

/** One pass of these weights, held by a trainer, over the demonstrations. The first shows what really was: names as they go together. */
export function imitatePass(
  { options, schedule, demonstrations }: RolloutRun,
  { plan }: Pick<Taught, 'plan'>,
  { trainer, pass: number }: { readonly trainer: ImitationStep['trainer']; readonly pass: number },
): Promise<Metrics> {
  const { seed = 0, prime: { supervised } = {} } = options
  return present(plan.imitation, 'what imitates demonstrations').imitate({
    trainer,
    demonstrations: demonstrations.drawn(number === 1 ? 0 : schedule.augmentation, rng('augmented', seed, number)),
    rng: rng('prime', seed, number),
    ...(supervised && { defaults: supervised }),
  })
}

/** Passes between two looks: each look costs about as much as these. */
const passesPerLook = 4
/** Tasks of a look, and attempts at each. */
const lookTasks = 24
const lookAttempts = 4

async function imitateToTarget(run: RolloutRun, taught: Taught): Promise<void> {
  const { primePassesAtMost: passes, primeSuccess, primeInformative } = run.schedule
  const target = { success: primeSuccess, informative: primeInformative, patience: 2, passes, hopeless: 1 / lookTasks }
  const verdict = () => afterLook(run.state.looks, target)
  while (verdict() === 'imitate') {
    const next = Math.min(passes, (run.state.looks.at(-1)?.pass ?? 0) + passesPerLook)
    while (taught.state.passes < next) await pass(run, taught, passes)
    await look(run, taught)
    await run.checkpoint()
  }
  const last = run.state.looks.at(-1)
  if (verdict() === 'hopeless' && last) throw cannotPrime(last.pass, last.diagnosis)
  if (verdict() === 'ready') await taught.keep('primed', await settledWeights(taught))
}

/**
 * Attempts at training tasks that were not demonstrated, as an update would make them, by the average of the passes. Other
 * weights that learn act as they begin.
 */
async function look(run: RolloutRun, taught: Taught): Promise<void> {
  const began = run.clock.now()
  const { schedule, state } = run
  const { passes } = taught.state
  const settled = await settledWeights(taught)
  const acting = run.weights.map(
    (one) => [one.parameter, one === taught ? one.actingAs(settled, 0) : one.actingNow(0)] as const,
  )
  const scored = await whileActing(run, new Map(acting), (weights) =>
    runBatch(
      run,
      { weights, temperature: schedule.temperature },
      { name: `prime/pass-${passes}`, tasks: lookedAt(run), attempts: lookAttempts },
    ),
  )
  refuseNoise(scored)
  const attempted = attemptedIn(run, scored)
  const groups = groupAttempts(scored)
  const success = successRate(scored, run.successThreshold).success ?? 0
  const seen = {
    pass: passes,
    success,
    informative: informativeOf(scored) / Math.max(1, groups.length),
    diagnosis: diagnose(scored, run.successThreshold),
  }
  const successes = thinned([...state.successes, ...successesIn(groups, run.successThreshold, run.familyOf)])
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
  if (bestLook(looks) === seen) await taught.keep('primed', settled)
  run.missing.watch(scored)
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
