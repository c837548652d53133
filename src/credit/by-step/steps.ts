import type { DecisionId, Message, NodeId, Reward, Trajectory } from '../../core/index.ts'

/** A Step as credit sees it: what decided in it, and what it earned. */
export interface EarningStep {
  readonly decisions: readonly DecisionId[]
  /** What the environment said of it, and with the last Step the outcome; `null` where the environment could not tell. */
  readonly reward: number | null
}

/** An attempt whose reward is known, Step by Step. */
export interface SteppedAttempt {
  readonly trajectory: Trajectory
  readonly reward: Reward
  /** What it earned in the end. */
  readonly outcome: number
  /** In the order in which they were recorded; at least one. */
  readonly steps: readonly EarningStep[]
}

/**
 * An attempt cut into its Steps. One that has none, as where a program only chooses, is a single Step. A Decision that
 * was made after the last Step counts as of that one, for nothing but the outcome comes after it.
 * @param own whether what the environment said of single Steps counts; the outcome always does.
 */
export function stepped(trajectory: Trajectory, reward: Reward, outcome: number, own: boolean): SteppedAttempt {
  const count = Math.max(1, trajectory.steps.length)
  const decisions = Array.from({ length: count }, (): DecisionId[] => [])
  for (const { id, step } of trajectory.decisions) decisions[Math.min(step, count - 1)]?.push(id)
  const steps = decisions.map((made, i) => {
    const said = trajectory.steps[i]?.reward
    const earned = own && said !== undefined ? said : 0
    return { decisions: made, reward: earned === null || i < count - 1 ? earned : earned + outcome }
  })
  return { trajectory, reward, outcome, steps }
}

/**
 * The discounted return from each Step on: Gₜ = rₜ + γ·Gₜ₊₁. Where a reward is not known, no return up to it is: `null`.
 * @param discount γ in [0, 1].
 */
export function returnsOf(steps: readonly EarningStep[], discount: number): readonly (number | null)[] {
  const returns: (number | null)[] = []
  let later: number | null = 0
  for (const { reward } of steps.toReversed()) {
    later = reward === null || later === null ? null : reward + discount * later
    returns.push(later)
  }
  return returns.toReversed()
}

/**
 * What the policy had been shown when it took each Step: the messages since it last spoke, the opening at first. One text
 * for each Step, and one for an attempt that has none.
 */
export function shownBefore({ nodes, steps }: Trajectory): readonly string[] {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const textBefore = (action: NodeId): string => {
    const shown: Message[] = []
    let node = byId.get(byId.get(action)?.parent ?? action)
    while (node && node.id !== action && node.message.role !== 'assistant') {
      shown.push(node.message)
      node = node.parent === null ? undefined : byId.get(node.parent)
    }
    return shown
      .toReversed()
      .map(({ content }) => content)
      .join('\n')
  }
  return steps.length === 0 ? [''] : steps.map(({ action }) => textBefore(action))
}
