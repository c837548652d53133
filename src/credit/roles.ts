import { type CreditEstimator, type Json, sha256, type Trajectory } from '../core/index.ts'
import { mean } from './outcome.ts'
import { stepCredit } from './by-step/step-credit.ts'
import type { SteppedAttempt } from './by-step/steps.ts'

export interface RoleCreditOptions {
  /**
   * What a turn is compared with: the mean of the other turns that the same role took at the same place (`siblings`), or a
   * number, as the paper's threshold of 0.5. Default `siblings`.
   */
  readonly baseline?: 'siblings' | number
  /**
   * Equal beginnings of attempts are one sample in many copies, as where an episode was forked, whose credit is shared
   * among the copies; or samples of their own. Default `forked`.
   */
  readonly copies?: 'forked' | 'sampled'
}

/** A turn, after all turns before it. */
interface Branch {
  /** Attempts that took it. */
  attempts: number
  readonly children: Map<string, Branch>
  /** Outcomes of attempts that ended with it. */
  readonly ended: number[]
}

/**
 * Credit for roles that take turns, such as a generator, a verifier and a refiner, from a tree of attempts: several tries of
 * each role after each turn of the one before. A turn is worth the mean of what came of it, child by child up from the
 * leaves, and its credit is A = V(turn) − V(its siblings).
 *
 * MALT (Motwani et al. 2024, "Improving Reasoning with Multi-Agent LLM Training", section on credit assignment), whose binary
 * labels are the sign of A with the threshold as baseline. The tree is found in a group: attempts share a branch as long as
 * what was said and called is equal, turn by turn in the order of recording. A turn without siblings has no credit.
 */
export function roleCredit({ baseline = 'siblings', copies = 'forked' }: RoleCreditOptions = {}): CreditEstimator {
  return stepCredit({
    name: 'role-credit',
    fewest: 2,
    // What a role led to is the outcome of the whole; what an environment said of its turn alone is not.
    stepRewards: 'ignored',
    advantages(attempts) {
      if (baseline === 'siblings' && attempts.every(({ outcome }) => outcome === attempts[0]?.outcome)) return null
      const { root, paths } = grow(attempts)
      const values = new Map<Branch, number>()
      valueOf(root, values)
      return paths.map((path) =>
        path.map((branch, turn) => {
          const before = expected(branch, turn === 0 ? root : path[turn - 1], values, baseline)
          if (before === null) return null
          const advantage = (values.get(branch) ?? 0) - before
          return copies === 'forked' ? advantage / branch.attempts : advantage
        }),
      )
    },
  })
}

/** What siblings came to; `null` where there are none. */
function expected(
  branch: Branch,
  parent: Branch | undefined,
  values: ReadonlyMap<Branch, number>,
  baseline: 'siblings' | number,
): number | null {
  if (typeof baseline === 'number') return baseline
  const siblings = [...(parent?.children.values() ?? [])].filter((each) => each !== branch)
  return siblings.length === 0 ? null : mean(siblings.map((each) => values.get(each) ?? 0))
}

/** The tree of all attempts, and the way of each through it. */
function grow(attempts: readonly SteppedAttempt[]) {
  const root = newBranch()
  const paths = attempts.map(({ trajectory, steps, outcome }) => {
    let at = root
    const path = turnsOf(trajectory, steps.length).map((turn) => {
      const next = at.children.get(turn) ?? newBranch()
      at.children.set(turn, next)
      next.attempts++
      at = next
      return next
    })
    at.ended.push(outcome)
    return path
  })
  return { root, paths }
}

const newBranch = (): Branch => ({ attempts: 0, children: new Map(), ended: [] })

/** Values from the leaves up: the mean over what came next, an end being one of it. */
function valueOf(root: Branch, values: Map<Branch, number>): void {
  const order: Branch[] = [root]
  // Grows while it is read: parents before children, without recursion, since an episode may be thousands of turns long.
  for (const branch of order) order.push(...branch.children.values())
  for (const branch of order.toReversed()) {
    const next = [...branch.children.values()].map((child) => values.get(child) ?? 0)
    values.set(branch, mean([...next, ...branch.ended]))
  }
}

/** What was said and called in each turn, and by which role; of an attempt without Steps, what it decided. */
function turnsOf({ nodes, steps, decisions }: Trajectory, count: number): readonly string[] {
  const byId = new Map(nodes.map(({ id, message }) => [id, message]))
  const made = Array.from({ length: count }, (): Json[] => [])
  for (const { step, parameter, made: decided = null } of decisions) {
    made[Math.min(step, count - 1)]?.push([parameter, decided])
  }
  return made.map((own, i) => {
    const action = steps[i]?.action
    return sha256(JSON.stringify([own, action === undefined ? null : byId.get(action)]))
  })
}
