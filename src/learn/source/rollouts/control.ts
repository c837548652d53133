import type { Trainer } from '../../../core/index.ts'
import { whileOpen } from '../../episodes.ts'
import { whileActing } from '../../run/acting-weights.ts'
import { evaluate, inTrainedTiers, successRate } from './evaluate.ts'
import { someOfEachTier } from '../../holdout.ts'
import type { TrainedWeights } from '../../run/trained-weights.ts'
import type { KeptWeights, RolloutRun } from './rollout-run.ts'
import { methodOf } from '../../run/parameter.ts'
import { startingTrainer } from '../../run/trainer.ts'
import { imitatePass } from './prime.ts'

/**
 * The control arm: supervised learning alone on the same demonstrations, told of other things as while priming, for as many
 * seconds as the learned arm took, from the same start. Its best validation checkpoint is kept, chosen by the same tasks as
 * the learned arm's, looks included in its time. Everything else acts as it serves.
 */
export async function trainControl(run: RolloutRun): Promise<void> {
  const { options, taught } = run
  if (!options.control || !taught || taught.at('control') !== null) return
  const method = methodOf(run.agent, options, taught.parameter)
  const trainer = await startingTrainer(taught.model, options, method, taught.serving)
  await whileOpen(trainer, async () => {
    const start = await taught.kept('start')
    if (start !== null) await trainer.loadWeights(start)
    await imitateAlone(run, taught, trainer)
  })
}

/** Passes between two looks at validation. */
const passesPerLook = 8

async function imitateAlone(run: RolloutRun, taught: TrainedWeights<KeptWeights>, trainer: Trainer): Promise<void> {
  const { source, signal } = run.options
  const tasks = someOfEachTier(source.validation, run.schedule.validationTasks).filter(inTrainedTiers(source))
  const began = run.clock.now()
  const elapsed = () => (run.clock.now() - began) / 1000
  let best = -1
  for (let pass = 1; elapsed() < run.state.learningSeconds; pass++) {
    signal?.throwIfAborted()
    await imitatePass(run, taught, { trainer, pass })
    run.emit({ type: 'progress', phase: 'control', done: elapsed(), total: run.state.learningSeconds })
    if (pass % passesPerLook !== 0) continue
    const acting = new Map([[taught.parameter, taught.acting(() => trainer.publish(), pass)]])
    const scored = await whileActing(run, acting, (weights) =>
      evaluate(run, 'control', { weights }, 'validation', tasks, { look: `pass-${pass}` }),
    )
    const success = successRate(scored, run.successThreshold).success ?? 0
    if (success > best) {
      best = success
      await taught.keep('control', await trainer.saveWeights())
    }
  }
  if (best < 0) await taught.keep('control', await trainer.saveWeights())
}
