import { type Agent, type EpisodeBudget, weightsOf } from '../../../agent/index.ts'
import { contentHash, type Trainer } from '../../../core/index.ts'
import { runBatch } from '../../episodes.ts'
import { LearnError } from '../../errors.ts'
import type { Complete, RolloutOptions } from '../../options.ts'
import type { Course, Stage } from '../../run/course.ts'
import type { Attempt } from '../../run/learners.ts'
import { openRun } from '../../run/open.ts'
import { type Trained, whatLearns } from '../../run/parameter.ts'
import type { TrainerNeeds } from '../../run/trainer-needs.ts'
import { whileLearning } from './acting.ts'
import { trainControl } from './control.ts'
import { Demonstrations } from './demonstrations.ts'
import { improve } from './improve.ts'
import { judgingTasks, measureArms } from './measure.ts'
import { prime } from './prime.ts'
import { budgetWith, completed } from './recipe.ts'
import { RolloutRun } from './rollout-run.ts'
import type { Schedule } from './schedule.ts'
import { scheduleOf } from './schedule-of.ts'

/** A run over rollouts imitates demonstrations, practises, and trains a control where one is asked for. */
const stages: readonly Stage<RolloutRun>[] = [
  { name: 'prime', learn: prime },
  { name: 'practise', learn: improve },
  { name: 'control', learn: trainControl },
]

/** Opens a run over rollouts. */
export async function openRollouts(agent: Agent, given: RolloutOptions): Promise<Course<RolloutRun>> {
  const options = completed(agent, given)
  const { trained } = whatLearns(agent, options)
  if (trained === null) refuseForWeights(options)
  else refuseUntaught(trained, options)
  const schedule = scheduleOf(options)
  const demonstrations = await Demonstrations.read(options)
  const budget = budgetWith(options.budget ?? {}, demonstrations.given)
  refuseLongTurns(agent, options, budget)
  return openRun<RolloutOptions, RolloutRun>(agent, options, {
    stages: trained ? stages : stages.filter(({ name }) => name === 'practise'),
    attempt,
    tasks: [...options.source.train, ...options.source.validation],
    guarded: { guarded: [...options.source.validation, ...options.source.holdout], known: options.source.train },
    measure: measureArms,
    key: agent.name,
    config: { deterministic: options.deterministic ?? false },
    needs: needsOf(trained, options, schedule),
    holdout: judgingTasks({ options, schedule }),
    open: (parts) =>
      new RolloutRun(parts, {
        schedule: savesBytes(parts.trainer) ? schedule : { ...schedule, averaging: 0 },
        budget,
        demonstrations,
      }),
    started: ({ state, familySizes }, resumed) => ({
      resumedAt: resumed ? state.update : null,
      chosen: {
        budget,
        families: familySizes.size,
        demonstrations: demonstrations.given.length,
        names: demonstrations.augmenter.names,
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
        const { passes, update } = run.state
        const hash = contentHash([passes, [...values], tasks.map(({ id }) => id)]).slice(0, 16)
        const name = `evaluate/${parameter}/update-${update}/${hash}`
        return runBatch(run, { ...actor, temperature: run.schedule.temperature }, { name, tasks, attempts: 1 })
      },
      new Map([[parameter, value]]),
    )

const savesBytes = (trainer: Trainer | null) => trainer?.capabilities.saves !== 'paths'

/** What a run over rollouts asks of its trainer. Where nobody asks for an average, one that cannot be had is left out. */
function needsOf(trained: Trained | null, options: Complete<RolloutOptions>, schedule: Schedule): TrainerNeeds {
  const { practice = null, imitation = null, preferring = null } = trained?.plan ?? {}
  const losses = practice?.losses ?? []
  const imitates = options.prime !== undefined || schedule.imitation > 0
  return {
    losses: [
      ...losses,
      ...(imitates ? (imitation?.losses ?? []) : []),
      ...(preferring?.pairsIn ? (preferring.losses ?? []) : []),
    ],
    temperature: losses.length > 0 ? schedule.temperature : null,
    bytesFor: (options.schedule?.averaging ?? 0) > 0 ? ['schedule.averaging'] : [],
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

/** @throws LearnError for a sequence that lacks what other options ask of it, or has what rollouts cannot teach. */
function refuseUntaught({ parameter, plan }: Trained, { prime, control, guide }: RolloutOptions): void {
  const [alone] = plan.turns
  if (alone === 'prefer' && plan.turns.length === 1 && !plan.preferring?.pairsIn) {
    throw new LearnError({
      code: 'learn/nothing-teaches',
      message: `"${parameter}" is to learn from preferences alone, and over rollouts nobody prefers anything.`,
      hint: 'Say which attempts are preferred: preferences({ from: groupPairs() }); or add policyGradient() or imitate().',
    })
  }
  const shows = prime && prime.demonstrations.length > 0
  const [one] = Object.entries({ prime: shows, control, guide }).flatMap(([name, option]) => (option ? [name] : []))
  if (one === undefined || plan.imitation) return
  throw new LearnError({
    code: 'learn/nothing-teaches',
    message: `The option "${one}" gives examples to imitate, and the sequence of "${parameter}" imitates nothing.`,
    hint: `Add imitate() to the sequence, or leave "${one}" out.`,
  })
}

/** @throws LearnError when no policy call could be made: each would outgrow the model's context. */
function refuseLongTurns(
  agent: Agent,
  { model }: Pick<Complete<RolloutOptions>, 'model'>,
  budget: EpisodeBudget,
): void {
  if (weightsOf(agent).length === 0) return
  const { contextLength } = model.sampler.capabilities
  if (budget.tokensPerTurn < contextLength) return
  throw new LearnError({
    code: 'learn/turn-exceeds-context',
    message: `A turn may take ${budget.tokensPerTurn} tokens, and the model's context holds ${contextLength}.`,
    hint: 'Allow fewer tokens a turn (episode.tokensPerTurn).',
  })
}
