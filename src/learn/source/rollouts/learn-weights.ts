import { backward, type CreditedBatch, policySamples } from '../../../agent/index.ts'
import { type Group, type Metrics, rng } from '../../../core/index.ts'
import type { Turn } from '../../../optimize/weights/index.ts'
import { finite } from '../../run/finite.ts'
import { heedPractice } from '../../run/gradient.ts'
import type { TrainedWeights } from '../../run/trained-weights.ts'
import { adapted, paceOf, settledPace } from '../../steer/index.ts'
import { imitate } from './imitate.ts'
import { prefer } from './prefer.ts'
import { recipe } from './recipe.ts'
import type { RolloutRun } from './rollout-run.ts'
import { wantedGroups } from './schedule.ts'

/** What weights learn from in an update. */
export interface Attempts {
  readonly groups: readonly Group[]
  readonly batch: CreditedBatch
  /** Groups whose attempts differ. */
  readonly informative: number
}

/** What moved weights in an update: its numbers, and the tokens that they were trained on. */
export interface Moved {
  readonly metrics: Metrics
  readonly trained: number
}

type Lesson = (run: RolloutRun, one: TrainedWeights, attempts: Attempts) => Promise<Metrics>

const lessons: Readonly<Record<Turn, Lesson>> = { practise, imitate, prefer }

/** The weights that the run trains learn from an update's attempts: each in the turns of its own sequence. */
export async function learnWeights(run: RolloutRun, attempts: Attempts): Promise<Moved> {
  let [metrics, trained]: [Metrics, number] = [{}, 0]
  for (const one of run.weights) {
    for (const turn of one.plan.turns) {
      const told = finite(await lessons[turn](run, one, attempts))
      metrics = { ...metrics, ...one.told(told) }
      trained += (told.tokens ?? 0) + (told.imitationTokens ?? 0) + (told.preferenceTokens ?? 0)
    }
  }
  return { metrics, trained }
}

/** A step of policy gradient. How far it moved the weights decides how long the next one is. */
async function practise(run: RolloutRun, one: TrainedWeights, { batch, informative }: Attempts): Promise<Metrics> {
  const { options, schedule, state } = run
  const { parameter, trainer, model, current } = one
  if (!one.plan.practice) return {}
  const gradients = backward(batch, { parameter, rule: policySamples })
  const { metrics } = await one.plan.practice.step({
    current,
    gradients,
    trainer,
    sampler: model.sampler,
    update: state.update,
    rng: rng('optimize', options.seed ?? 0, state.update, ...one.key),
    pace:
      one.state.stride.scale *
      paceOf(informative, wantedGroups(schedule)) *
      settledPace(state.signs.at(-1)?.overall ?? 0, recipe.settling.practice),
  })
  const deposits = gradients.flatMap((gradient) => gradient.deposits)
  const learned = one.plan.practice.learned?.(deposits) ?? deposits
  heedPractice(one, learned, metrics, (event) => run.emit(event))
  // Before the first of several steps, fresh samples have moved from nothing.
  const moved = (metrics.steps ?? 0) > 1 ? (metrics.kl ?? null) : null
  one.advance({ stride: adapted(one.state.stride, moved) })
  return metrics
}
