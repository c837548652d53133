import { rng, type Trainer } from '../../../core/index.ts'
import { whileLoaded, whileOpen } from '../../episodes.ts'
import { evaluate, inTrainedTiers, successRate } from './evaluate.ts'
import { firstOfEachTier } from '../../holdout.ts'
import type { RolloutRun } from './rollout-run.ts'
import { methodOf } from '../../run/parameter.ts'
import { startingTrainer } from '../../run/trainer.ts'
import { demonstrationsOf, imitationOf } from './prime.ts'
import type { RolloutOptions } from '../../options.ts'

/**
 * The control arm: supervised learning alone on the same demonstrations, told of other things as while priming, for as many
 * seconds as the learned arm took, from the same start. Its best validation checkpoint is kept, chosen by the same tasks as
 * the learned arm's, looks included in its time.
 */
export async function trainControl(run: RolloutRun): Promise<void> {
  const { prime, control } = run.options
  if (!control || !prime || run.blobs.control) return
  const trainer = await startingTrainer(run.options, methodOf(run.agent, run.options), run.servingVersion)
  await whileOpen(trainer, () => imitateAlone(run, trainer, prime))
}

/** Passes between two looks at validation. */
const passesPerLook = 8

async function imitateAlone(
  run: RolloutRun,
  trainer: Trainer,
  { supervised }: NonNullable<RolloutOptions['prime']>,
): Promise<void> {
  const { model, source, seed = 0, reward, signal } = run.options
  const tasks = firstOfEachTier(source.validation, run.schedule.validationTasks).filter(inTrainedTiers(source))
  const began = run.clock.now()
  const elapsed = () => (run.clock.now() - began) / 1000
  let best = -1
  for (let pass = 1; elapsed() < run.state.learningSeconds; pass++) {
    signal?.throwIfAborted()
    await imitationOf(run).imitate({
      trainer,
      demonstrations: demonstrationsOf(run, pass),
      rng: rng('prime', seed, pass),
      ...(supervised && { defaults: supervised }),
    })
    run.emit({ type: 'progress', phase: 'control', done: elapsed(), total: run.state.learningSeconds })
    if (pass % passesPerLook !== 0) continue
    const inForce = run.inForce(run.servingVersion.id, pass)
    const scored = await whileLoaded(model.sampler, await trainer.publish(), (adapter) =>
      evaluate(run, 'control', { adapter, inForce }, 'validation', tasks, `pass-${pass}`),
    )
    const success = successRate(scored, reward.ceiling).success ?? 0
    if (success > best) {
      best = success
      await run.keep('control', await trainer.saveWeights())
    }
  }
  if (best < 0) await run.keep('control', await trainer.saveWeights())
}
