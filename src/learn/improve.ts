import { backward } from '../agent/index.ts'
import { groupAttempts, type Metrics, rng, sampledTokens, type ScoredTrajectory, type Task } from '../core/index.ts'
import { InvariantError } from '../errors/index.ts'
import { runBatch, whileLoaded } from './episodes.ts'
import { evaluate, firstOfEachTier, judgedEpisodes, successRate } from './evaluate.ts'
import { guardCounts } from './judge.ts'
import type { LearningRun } from './learning-run.ts'

/** Updates and validations in turn, until the schedule says that it is enough. The best validation is kept. */
export async function improve(run: LearningRun): Promise<void> {
  for (;;) {
    if (validationDue(run)) await step(run, validate)
    if (enough(run)) break
    await step(run, update)
  }
  run.state = { ...run.state, phase: 'test' }
  await run.checkpoint()
}

/** Does one piece of learning, adds its time to the run's, and makes it durable. */
async function step(run: LearningRun, work: (run: LearningRun) => Promise<void>): Promise<void> {
  const began = run.clock.now()
  const before = run.state.learningSeconds
  await work(run)
  run.state = { ...run.state, learningSeconds: before + (run.clock.now() - began) / 1000 }
  await run.checkpoint()
}

/** Before the first update, every so many updates, and at the end: a checkpoint is not validated twice. */
function validationDue(run: LearningRun): boolean {
  const { update, validated } = run.state
  return update !== validated && (update % run.schedule.validateEvery === 0 || enough(run))
}

function enough({ state, schedule }: LearningRun): boolean {
  return (
    state.update >= schedule.updates ||
    (schedule.seconds !== undefined && state.learningSeconds >= schedule.seconds) ||
    (schedule.target !== undefined && (state.best?.success ?? 0) >= schedule.target) ||
    (schedule.patience !== undefined && state.stale >= schedule.patience)
  )
}

/** One update: roll out → credit → backward → step. */
async function update(run: LearningRun): Promise<void> {
  const { options, schedule } = run
  const began = run.clock.now()
  const inForce = run.inForce(run.servingVersion.id, run.state.update)
  const scored = await whileLoaded(options.model.sampler, await run.trainer.publish(), (adapter) =>
    runBatch(
      run,
      { adapter, inForce, temperature: schedule.temperature },
      {
        name: `update-${run.state.update}`,
        tasks: tasksOf(run),
        attempts: schedule.attempts,
        straggler: schedule.straggler,
      },
    ),
  )

  const { credits, counts } = options.credit.credit(groupAttempts(scored))
  const gradients = backward({ trajectories: scored.map(({ trajectory }) => trajectory), credits })
  const { metrics } = await run.optimizer.step({
    current: { version: run.servingVersion.id, value: servingValue(run) },
    gradients: gradients.filter((g) => g.kind === 'weights').filter((g) => g.parameter === run.parameter),
    trainer: run.trainer,
    sampler: options.model.sampler,
    update: run.state.update,
    rng: rng('optimize', options.seed ?? 0, run.state.update),
    evaluate: () => Promise.reject(new InvariantError('weights optimizers are validated by the loop')),
  })
  const brokenCalls = scored.reduce((sum, one) => sum + (guardCounts(one).brokenCalls ?? 0), 0)
  tell(run, scored, { ...metrics, ...counts, brokenCalls }, (run.clock.now() - began) / 1000)
}

/** The update's tasks: the training tasks in a fresh order each pass over them, keyed by the seed. */
function tasksOf({ options, schedule, state }: LearningRun): readonly Task<'train'>[] {
  const { train } = options.source
  const perPass = Math.max(1, Math.floor(train.length / schedule.tasks))
  const order = rng('tasks', options.seed ?? 0, Math.floor(state.update / perPass)).shuffle(train)
  const start = (state.update % perPass) * schedule.tasks
  return order.slice(start, start + schedule.tasks)
}

function servingValue({ servingVersion }: LearningRun) {
  const { value } = servingVersion
  if (value.kind !== 'weights') throw new InvariantError(`the learning parameter holds a ${value.kind} value`)
  return value
}

function tell(run: LearningRun, scored: readonly ScoredTrajectory[], metrics: Metrics, seconds: number): void {
  const tokens = scored.reduce((sum, { trajectory }) => sum + sampledTokens(trajectory), 0)
  const rewards = scored.flatMap(({ reward }) => (reward.value === null ? [] : [reward.value]))
  const update = run.state.update + 1
  run.state = {
    ...run.state,
    update,
    tokensSampled: run.state.tokensSampled + tokens,
    tokensTrained: run.state.tokensTrained + (metrics.tokens ?? 0),
  }
  const soFar = run.state.learningSeconds + seconds
  run.emit({
    type: 'updated',
    update,
    updates: run.schedule.updates,
    rollouts: successRate(scored, run.options.reward.ceiling),
    reward: rewards.length === 0 ? null : rewards.reduce((sum, reward) => sum + reward, 0) / rewards.length,
    metrics,
    tokensSampled: tokens,
    // A clock that ticks in milliseconds can see no time pass.
    tokensPerSecond: (tokens + (metrics.tokens ?? 0)) / Math.max(seconds, 0.001),
    seconds: soFar,
    etaSeconds: ((run.schedule.updates - update) * soFar) / update,
  })
}

/** Measures the current checkpoint on validation and keeps it when none was better: of equals, the most practised. */
async function validate(run: LearningRun): Promise<void> {
  const { source, model, reward } = run.options
  const tasks = firstOfEachTier(source.validation, run.schedule.validationTasks)
  const inForce = run.inForce(run.servingVersion.id, run.state.update)
  const arm = run.state.update === 0 ? 'primed' : 'learned'
  const scored = await whileLoaded(model.sampler, await run.trainer.publish(), (adapter) =>
    evaluate(run, arm, { adapter, inForce }, 'validation', tasks),
  )
  const success = successRate(judgedEpisodes(run, scored), reward.ceiling).success ?? 0
  const { best, stale, update } = run.state
  const better = best === null || success > best.success
  if (better || success === best.success) {
    await run.keep('best')
    run.state = { ...run.state, best: { update, success } }
  }
  run.state = { ...run.state, validated: update, stale: better ? 0 : stale + 1 }
}
