import { type Agent, type EpisodeBudget, type Models, modelsOf } from '../../../agent/index.ts'
import { contentHash } from '../../../core/index.ts'
import { runBatch } from '../../episodes.ts'
import { LearnError } from '../../errors.ts'
import type { Complete, RolloutOptions } from '../../options.ts'
import type { Course, Stage } from '../../run/course.ts'
import type { Attempt } from '../../run/learners.ts'
import { givenModels, withJudges } from '../../run/judges.ts'
import { withoutModel } from '../../run/no-model.ts'
import { openRun } from '../../run/open.ts'
import { type Trained, whatLearns } from '../../run/parameter.ts'
import { refuseUnjudged, retireStage } from '../../run/retire.ts'
import type { TrainerNeeds } from '../../run/trainer-needs.ts'
import { whileLearning } from './acting.ts'
import { trainControl } from './control.ts'
import { Demonstrations } from './demonstrations.ts'
import { improve } from './improve.ts'
import { refuseLibrary } from './library.ts'
import { judgingTasks, measureArms } from './measure.ts'
import { prime } from './prime.ts'
import { budgetWith, completed } from './recipe.ts'
import { RolloutRun } from './rollout-run.ts'
import type { Schedule } from './schedule.ts'
import { scheduleOf } from './schedule-of.ts'
import { taughtBy } from './taught.ts'
import { withTemperatures } from './temperatures.ts'

/** A run over rollouts imitates demonstrations, practises, and trains a control where one is asked for. */
const stages: readonly Stage<RolloutRun>[] = [
  { name: 'prime', learn: prime },
  { name: 'practise', learn: improve },
  { name: 'control', learn: trainControl },
]

/** Opens a run over rollouts. */
export async function openRollouts(agent: Agent, given: RolloutOptions): Promise<Course<RolloutRun>> {
  const complete = completed(agent, given)
  const { weights, judge } = givenModels(agent, given)
  const options = { ...complete, credit: withJudges(complete.credit, judge) }
  const models = modelsOf(agent, weights, withoutModel)
  const { trained, retired } = whatLearns(agent, options)
  if (trained.length === 0) refuseForWeights(options)
  if (retired) refuseUnjudged(options)
  const taught = taughtBy(options, trained)
  refuseUntaught(trained, taught, options)
  refuseThreshold(options)
  refuseNoTime(options)
  const schedule = scheduleOf({ ...options, schedule: withTemperatures(options.schedule ?? {}, models) })
  const demonstrations = await Demonstrations.read(options, (taught && models.get(taught.parameter)) ?? null)
  refuseLibrary(
    options.prime?.startFrom ?? [],
    demonstrations.given.length,
    (taught && models.get(taught.parameter)) ?? null,
  )
  const budget = budgetWith(options.budget ?? {}, demonstrations.given)
  refuseLongTurns(models, budget)
  return openRun<RolloutOptions, RolloutRun>(agent, models, options, {
    stages: retired ? [retireStage] : trained.length > 0 ? stages : stages.filter(({ name }) => name === 'practise'),
    attempt,
    tasks: [...options.source.train, ...options.source.validation],
    guarded: { guarded: [...options.source.validation, ...options.source.holdout], known: options.source.train },
    measure: measureArms,
    key: agent.name,
    config: { deterministic: options.deterministic ?? false },
    needs: (one) => needsOf(one, one.parameter === taught?.parameter, options, schedule),
    holdout: judgingTasks({ options, schedule }),
    open: (parts) => new RolloutRun(parts, { schedule, budget, demonstrations, taught: taught?.parameter ?? null }),
    started: ({ state, familySizes }, resumed) => ({
      resumedAt: resumed ? state.update : null,
      chosen: {
        budget,
        families: familySizes.size,
        demonstrations: demonstrations.given.length,
        names: demonstrations.augmenter.names,
        temperature: schedule.temperature,
      },
    }),
  })
}

/**
 * How an optimizer attempts tasks: with its value in the place of what acts now. A batch is named by all that acts in it, so
 * that a run that is resumed finds what it attempted before, and nothing else does.
 */
const attempt =
  (run: RolloutRun): Attempt =>
  (parameter, value, tasks) =>
    whileLearning(
      run,
      (actor, values) => {
        const { update } = run.state
        const passes = run.taught?.state.passes ?? 0
        const hash = contentHash([passes, [...values], tasks.map(({ id }) => id)]).slice(0, 16)
        const name = `evaluate/${parameter}/update-${update}/${hash}`
        return runBatch(run, { ...actor, temperature: run.schedule.temperature }, { name, tasks, attempts: 1 })
      },
      new Map([[parameter, value]]),
    )

/** What a run over rollouts asks of a trainer. Where nobody asks for an average, one that cannot be had is left out. */
function needsOf(
  { plan: { practice, imitation, preferring, anchoring } }: Trained,
  isTaught: boolean,
  options: Complete<RolloutOptions>,
  schedule: Schedule,
): TrainerNeeds {
  const losses = practice?.losses ?? []
  const imitates = isTaught || schedule.imitation > 0
  return {
    losses: [
      ...losses,
      ...(imitates ? (imitation?.losses ?? []) : []),
      ...(preferring?.pairsIn ? (preferring.losses ?? []) : []),
    ],
    temperature: losses.length > 0 ? schedule.temperature : null,
    bytesFor: (options.schedule?.averaging ?? 0) > 0 ? ['schedule.averaging'] : [],
    anchorsFor: anchoring ? ['anchor()'] : [],
    auxiliaryFor: practice?.auxiliary || (imitates && imitation?.auxiliary) ? ['the option auxiliary'] : [],
  }
}

/** @throws LearnError for options that say how weights learn: nobody would read them. */
function refuseForWeights({ prime, control, guide }: RolloutOptions): void {
  const given = Object.entries({ prime, control: control || undefined, guide })
  const [one] = given.flatMap(([name, option]) => (option === undefined ? [] : [name]))
  if (one === undefined) return
  throw new LearnError({
    code: 'learn/needs-weights',
    message: `The option "${one}" says how weights learn, and no weights learn in this run.`,
    hint: `Leave "${one}" out, or name the agent's weights in optimize.`,
  })
}

/**
 * @param taught who imitates the demonstrations.
 * @throws LearnError for a sequence that lacks what other options ask of it, or has what rollouts cannot teach.
 */
function refuseUntaught(
  trained: readonly Trained[],
  taught: Trained | null,
  { prime, control, guide }: RolloutOptions,
): void {
  for (const { parameter, plan } of trained) {
    const [alone, ...others] = plan.turns
    if (alone !== 'prefer' || others.length > 0 || plan.preferring?.pairsIn) continue
    throw new LearnError({
      code: 'learn/nothing-teaches',
      message: `"${parameter}" is to learn from preferences alone, and over rollouts nobody prefers anything.`,
      hint: 'Say which attempts are preferred: preferences({ from: groupPairs() }); or add policyGradient() or imitate().',
    })
  }
  const shows = prime && prime.demonstrations.length > 0
  const ofTaught = Object.entries({ prime: shows, control }).flatMap(([name, option]) => (option ? [name] : []))
  const [shown] = ofTaught
  if (shown !== undefined && taught && !taught.plan.imitation) throw imitatesNothing(shown, taught)
  const [first] = trained
  if (guide && first && trained.every(({ plan }) => !plan.imitation)) throw imitatesNothing('guide', first)
}

const imitatesNothing = (option: string, { parameter }: Trained) =>
  new LearnError({
    code: 'learn/nothing-teaches',
    message: `The option "${option}" gives examples to imitate, and the sequence of "${parameter}" imitates nothing.`,
    hint: `Add imitate() to the sequence, or leave "${option}" out.`,
  })

/** @throws LearnError for a time in which no call can return. */
function refuseNoTime({ callSeconds }: RolloutOptions): void {
  if (callSeconds === undefined || callSeconds > 0) return
  throw new LearnError({
    code: 'learn/no-time',
    message: `The option callSeconds is ${callSeconds}.`,
    hint: 'Give seconds above 0; Infinity waits without end.',
  })
}

/** @throws LearnError for a reward that every attempt earns, or none. */
function refuseThreshold({ successThreshold: from, reward }: RolloutOptions): void {
  if (from === undefined) return
  const { floor, ceiling } = reward
  if (from > floor && from <= ceiling) return
  throw new LearnError({
    code: 'learn/useless-threshold',
    message: `The option successThreshold is ${from}, and rewards go from ${floor} to ${ceiling}.`,
    hint: `Give a reward above ${floor}, and no higher than ${ceiling}.`,
  })
}

/** @throws LearnError when no policy call could be made: each would outgrow the model's context. */
function refuseLongTurns(models: Models, budget: EpisodeBudget): void {
  for (const { sampler } of models.values()) {
    const { contextLength } = sampler.capabilities
    if (budget.tokensPerTurn < contextLength) continue
    throw new LearnError({
      code: 'learn/turn-exceeds-context',
      message: `A turn may take ${budget.tokensPerTurn} tokens, and the model's context holds ${contextLength}.`,
      hint: 'Allow fewer tokens a turn (episode.tokensPerTurn).',
    })
  }
}
