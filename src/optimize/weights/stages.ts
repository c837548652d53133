import type { Group, Metrics, ParameterName, WeightsLesson, WeightsSequence } from '../../core/index.ts'
import { requireOption } from './errors.ts'
import { policyGradient } from './policy-gradient.ts'
import type { PolicyGradientOptions } from './policy-options.ts'
import { lessonsOf, type Turn, type WeightsPlan, weightsPlan } from './sequence.ts'

/** What is done for so many updates of a run. */
export interface Stage {
  /** Of all but the last stage, which goes on to the run's end. */
  readonly updates?: number
  readonly lessons: WeightsLesson | WeightsSequence
}

interface Begun {
  readonly number: number
  /** Updates before it. */
  readonly start: number
  readonly plan: WeightsPlan
}

/**
 * Stages of one run over rollouts: in each the weights learn in other ways, as in SFT → RL → SFT → RL, or in a last stage that
 * learns the final answer alone once the search for it is learned (`turns: 'last'`). Anchors and rehearsal are of the whole
 * run: those of the first stage that has any. A stage's lessons count its updates from 0,
 * so that each has its own warm-up; the trainer's state goes on.
 *
 * Demonstrations that a run is given are imitated before the first update, by the first stage that imitates. Where several
 * lessons take turns, they do so in the same order in all stages. The metric `stage` counts from 1.
 * @throws OptimizeError for no stages, a stage before the last without a whole number of updates, a last one with any, and stages
 * whose lessons take turns in different orders.
 */
export function stages(...given: readonly Stage[]): WeightsSequence {
  requireOption(given.length > 0, 'Stages of nothing teach nothing', 'Give at least one')
  const begun = given.map((stage, i): Begun => {
    const { updates } = stage
    const last = i === given.length - 1
    const fits = last ? updates === undefined : updates !== undefined && Number.isInteger(updates) && updates > 0
    const hint = 'Give every stage but the last a whole number of updates above 0, and the last one none'
    requireOption(fits, `Stage ${i + 1} of ${given.length} takes ${updates ?? 'no'} updates`, hint)
    const start = given.slice(0, i).reduce((sum, before) => sum + (before.updates ?? 0), 0)
    return { number: i + 1, start, plan: weightsPlan(stage.lessons) }
  })
  const at = (update: number) => begun.findLast(({ start }) => start <= update) ?? begun[0]
  const imitating = begun.find(({ plan }) => plan.imitation)
  const lossesOf = (lesson: (plan: WeightsPlan) => Pick<WeightsLesson, 'losses'> | null) => [
    ...new Set(begun.flatMap(({ plan }) => lesson(plan)?.losses ?? [])),
  ]
  const told = (stage: Begun | undefined, metrics: Metrics): Metrics => ({ ...metrics, stage: stage?.number ?? 1 })

  const lessons: Readonly<Record<Turn, WeightsLesson>> = {
    practise: {
      name: 'practice',
      kind: 'weights',
      losses: lossesOf(({ practice }) => practice),
      auxiliary: begun.some(({ plan: { practice } }) => practice?.auxiliary),
      async step(context) {
        const stage = at(context.update)
        const update = context.update - (stage?.start ?? 0)
        const { metrics = {} } = (await stage?.plan.practice?.step({ ...context, update })) ?? {}
        return { metrics: told(stage, metrics) }
      },
    },
    imitate: {
      name: 'imitation',
      kind: 'weights',
      losses: lossesOf(({ imitation }) => imitation),
      auxiliary: begun.some(({ plan: { imitation } }) => imitation?.auxiliary),
      async imitate(step) {
        const stage = step.update === undefined ? imitating : at(step.update)
        return told(stage, (await stage?.plan.imitation?.imitate(step)) ?? {})
      },
    },
    prefer: {
      name: 'preferences',
      kind: 'weights',
      losses: lossesOf(({ preferring }) => preferring),
      async prefer(step) {
        const stage = at(step.update ?? 0)
        return told(stage, (await stage?.plan.preferring?.prefer(step)) ?? {})
      },
      ...(begun.some(({ plan }) => plan.preferring?.pairsIn) && {
        pairsIn: (groups: readonly Group[], update: number, parameter: ParameterName) =>
          at(update)?.plan.preferring?.pairsIn?.(groups, update, parameter) ?? [],
      }),
    },
  }
  const turns = turnsOf(begun.map(({ plan }) => plan.turns))
  const name = given
    .map(({ lessons: own }) =>
      lessonsOf(own)
        .map((lesson) => lesson.name)
        .join('+'),
    )
    .join(' → ')
  const keeping = [
    begun.find(({ plan }) => plan.anchoring)?.plan.anchoring ?? [],
    begun.find(({ plan }) => plan.rehearsal)?.plan.rehearsal ?? [],
  ].flat()
  return { name, kind: 'weights', lessons: [...turns.map((turn) => lessons[turn]), ...keeping] }
}

/** All turns, in an order that agrees with each stage's. */
function turnsOf(orders: readonly (readonly Turn[])[]): readonly Turn[] {
  const all = [...new Set(orders.toSorted((a, b) => b.length - a.length).flat())]
  for (const order of orders) {
    const found = all.filter((turn) => order.includes(turn))
    const agrees = found.join() === order.join()
    requireOption(
      agrees,
      `Stages take turns in different orders: ${all.join(', ')} and ${order.join(', ')}`,
      'Order them alike',
    )
  }
  return all
}

/** How many updates each part of {@link planThenAct} learns alone. */
export interface PlanThenActOptions extends PolicyGradientOptions {
  /** Updates in which the turns after the plan are learned: to follow it. */
  readonly follow: number
  /** Updates in which the plan is learned: an episode's first turn. */
  readonly plan: number
}

/**
 * For an agent whose first turn is a plan: first it learns to follow plans, then to plan what can be followed, then both at once
 * (PilotRL with AdaPlan, Lu et al. 2025: progressive training of a global plan and its execution). Successes are imitated whole
 * all along, as beside a policy gradient alone.
 * @throws OptimizeError as {@link stages} does.
 */
export function planThenAct({ follow, plan, ...options }: PlanThenActOptions): WeightsSequence {
  return stages(
    { updates: follow, lessons: policyGradient({ ...options, turns: 'rest' }) },
    { updates: plan, lessons: policyGradient({ ...options, turns: 'first' }) },
    { lessons: policyGradient(options) },
  )
}
