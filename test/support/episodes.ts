import {
  type CreditEstimator,
  type Group,
  GroupId,
  type Message,
  NodeId,
  type Reward,
  type Step,
  Trajectory,
} from '../../src/core/index.ts'
import { creditContext, trajectoryOf } from './trajectories.ts'

/** A Step as a test writes it. */
export interface StepSketch {
  /** What the policy was shown before. */
  readonly shown?: string
  readonly said?: string
  /** Whether what was shown after it was an error. */
  readonly failed?: boolean
  readonly reward?: number | null
  /** Who decided; several make several Decisions. */
  readonly by?: readonly string[]
}

/** An episode of these Steps: messages in one line, Decisions d0, d1 … in the order of Steps. */
export function episodeOf(steps: readonly StepSketch[], id = 't0', group = 'g'): Trajectory {
  const nodes: { id: string; parent?: string; message: Message }[] = []
  const add = (name: string, message: Message) => {
    const parent = nodes.at(-1)?.id
    nodes.push({ id: name, ...(parent !== undefined && { parent }), message })
  }
  const shown = (i: number): Message =>
    i === 0
      ? { role: 'user', content: steps[0]?.shown ?? '' }
      : { role: 'tool', name: 'tool', content: steps[i]?.shown ?? '', isError: steps[i - 1]?.failed ?? false }
  for (const [i, { said = '' }] of steps.entries()) {
    add(`o${i}`, shown(i))
    add(`a${i}`, { role: 'assistant', content: said })
  }
  add(`o${steps.length}`, shown(steps.length))
  const made = steps.flatMap(({ by = ['model'] }, step) => by.map((parameter) => ({ parameter, step })))
  const trajectory = trajectoryOf({ id, group, nodes, decisions: made })
  return Trajectory.parse({
    ...trajectory,
    decisions: trajectory.decisions.map((decision, i) => ({ ...decision, step: made[i]?.step ?? 0 })),
    steps: steps.map(
      ({ reward }, i): Step => ({
        index: i,
        action: NodeId.parse(`a${i}`),
        observations: [NodeId.parse(`o${i + 1}`)],
        decisions: trajectory.decisions.filter((_, d) => made[d]?.step === i).map((decision) => decision.id),
        ...(reward !== undefined && { reward }),
      }),
    ),
  })
}

/** Attempts t0, t1 … at one Task: what they did, and what they earned. */
export function groupOf(attempts: readonly (readonly [readonly StepSketch[], Reward])[], id = 'g'): Group {
  return {
    id: GroupId.parse(id),
    attempts: attempts.map(([steps, reward], i) => ({ trajectory: episodeOf(steps, `t${i}`, id), reward })),
  }
}

/** The advantages of each attempt's Decisions, in order; `undefined` where there is no credit. */
export async function advantagesIn(
  estimator: CreditEstimator,
  groups: readonly Group[],
  context = creditContext,
): Promise<readonly (readonly (number | null | undefined)[])[]> {
  const { credits } = await estimator.credit(groups, context)
  return groups
    .flatMap(({ attempts }) => attempts)
    .map(({ trajectory }) =>
      trajectory.decisions.map(
        ({ id }) => credits.find((each) => each.trajectory === trajectory.id && each.decision === id)?.advantage,
      ),
    )
}
