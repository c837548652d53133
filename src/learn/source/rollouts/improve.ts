import type { Saved } from '../../../core/index.ts'
import { settledWeights } from './average.ts'
import { type Settled, whileSettled } from './acting.ts'
import { endInWords, enough } from './enough.ts'
import { evaluate, inTrainedTiers, successRate } from './evaluate.ts'
import { someOfEachTier } from '../../holdout.ts'
import { nothingLearned } from '../../errors.ts'
import { agree } from '../../run/agreement.ts'
import type { RolloutRun } from './rollout-run.ts'
import { update } from './update.ts'

/**
 * Updates and validations in turn, until the schedule says that it is enough or nothing is left to learn from. The best
 * validation is kept.
 * @throws LearnError where updating stopped early and no validation was better than the first.
 */
export async function improve(run: RolloutRun): Promise<void> {
  // A new LoRA is the base model: only now, after imitation, does a sampler without the adapter differ.
  if (run.taught && run.state.update === 0) await agree(run)
  for (;;) {
    if (validationDue(run)) await step(run, validate)
    const reason = enough(run)
    if (reason !== null) {
      if (reason !== 'stopped')
        run.emit({ type: 'enough', update: run.state.update, reason, message: endInWords(reason, run) })
      break
    }
    await step(run, update)
  }
  const { stopped, best } = run.state
  if (stopped !== null && !best?.rose) throw nothingLearned(stopped)
}

/** Does one piece of learning, adds its time to the run's, and makes it durable. */
async function step(run: RolloutRun, work: (run: RolloutRun) => Promise<void>): Promise<void> {
  const began = run.clock.now()
  const before = run.state.learningSeconds
  await work(run)
  run.state = { ...run.state, learningSeconds: before + (run.clock.now() - began) / 1000 }
  await run.checkpoint()
}

/** Before the first update, every so many updates, and at the end: a checkpoint is not validated twice. */
function validationDue(run: RolloutRun): boolean {
  const { update, validated } = run.state
  return update !== validated && (update % run.schedule.validateEvery === 0 || enough(run) !== null)
}

/** A rise on validation that can be chance. */
const chance = 0.02

/** Measures on validation what learning has come to, and keeps it when nothing was better: of equals, the most practised. */
async function validate(run: RolloutRun): Promise<void> {
  const { source } = run.options
  const tasks = someOfEachTier(source.validation, run.schedule.validationTasks).filter(inTrainedTiers(source))
  const atFirst = run.weights.length > 0 ? 'primed' : 'serving'
  const arm = run.state.update === 0 ? atFirst : 'learned'
  const settled = await settledOf(run)
  const proposed = await run.learners.proposed()
  const scored = await whileSettled(run, settled, proposed, (actor) => evaluate(run, arm, actor, 'validation', tasks))
  const success = successRate(scored, run.successThreshold).success ?? 0
  const { best, risen, update: at } = run.state
  const better = best === null || success > best.success
  const rises = risen === null || success > risen.success + chance
  if (better || success === best.success) {
    for (const [one, saved] of settled) await one.keep('best', saved)
    run.state = {
      ...run.state,
      proposed: Object.fromEntries(proposed),
      best: { update: at, success, rose: best !== null && (better || best.rose) },
    }
  }
  run.state = { ...run.state, validated: at, risen: rises ? { update: at, success } : risen }
}

/** The weights that the run trains, as validation measures them. */
async function settledOf({ weights }: RolloutRun): Promise<Settled> {
  const settled = new Map<RolloutRun['weights'][number], Saved>()
  for (const one of weights) settled.set(one, await settledWeights(one))
  return settled
}
