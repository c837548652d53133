import type { Trajectory } from '../../core/index.ts'
import { boundsOf } from '../learned/lower-bound.ts'
import { messagesOf, recordOf } from './record.ts'

/** Scores of attempts, in [0, 1], in just the order in which they are given; `null` for no answer. */
export type InOrder = (attempts: readonly Trajectory[]) => Promise<readonly number[] | null>

/** By how much a judge moves a score for what is no merit. */
export interface BiasCheck {
  /** Questions that it answered, and did not. */
  readonly n: number
  readonly unanswered: number
  /** Mean with bounds, two-sided at `alpha` over all checks; `null` below {@link leastAnswers}. */
  readonly effect: { readonly mean: number; readonly low: number; readonly high: number } | null
  /** Whether the effect is none by chance, and larger than is tolerated. `null`: too few answers to tell. */
  readonly biased: boolean | null
}

/** What a judge does with attempts of which none is better. */
export interface BiasReport {
  /** One attempt twice: the first score less the second. */
  readonly identical: BiasCheck
  /** Two attempts in both orders: what an attempt gets in the first place, less what it gets in the second. */
  readonly position: BiasCheck
  /** An attempt beside the same with empty words added: the longer's score less the shorter's; the places alternate. */
  readonly length: BiasCheck
  readonly unbiased: boolean
}

/** How a judge is checked. */
export interface BiasOptions {
  /** What is tolerated, in the judge's scores. Default 0.02. */
  readonly tolerance?: number
  /** The chance that any check calls an unbiased judge biased. Default 0.05. */
  readonly alpha?: number
}

export const leastAnswers = 10
const checks = 3

/** Says nothing, at length. */
const emptyWords =
  ' To put the above in other words, what was asked has been considered from every side, and what is said above is what is said here.'.repeat(
    4,
  )

/**
 * Asks a judge about attempts of which none is better than the other, and tells what it makes of places and of length. Give
 * it 30 attempts or more, of several tasks; it asks four questions about each.
 * @param pairs attempts at one task each, two by two.
 */
export async function checkJudge(
  judge: InOrder,
  pairs: readonly (readonly [Trajectory, Trajectory])[],
  { tolerance = 0.02, alpha = 0.05 }: BiasOptions = {},
): Promise<BiasReport> {
  const found = { identical: [], position: [], length: [] } as Record<
    'identical' | 'position' | 'length',
    (number | null)[]
  >
  for (const [i, [a, b]] of pairs.entries()) {
    found.identical.push(lead(await judge([a, a])))
    if (recordOf(messagesOf(a)) !== recordOf(messagesOf(b))) {
      const [straight, swapped] = [lead(await judge([a, b])), lead(await judge([b, a]))]
      found.position.push(straight === null || swapped === null ? null : (straight + swapped) / 2)
    }
    const longer = padded(b)
    const firstIsLonger = i % 2 === 0
    const difference = lead(await judge(firstIsLonger ? [longer, b] : [b, longer]))
    found.length.push(difference === null || firstIsLonger ? difference : -difference)
  }
  const checked = (differences: readonly (number | null)[]) =>
    checkOf(differences, { tolerance, alpha: alpha / checks })
  const report = {
    identical: checked(found.identical),
    position: checked(found.position),
    length: checked(found.length),
  }
  return { ...report, unbiased: Object.values(report).every(({ biased }) => biased === false) }
}

function lead(scores: readonly number[] | null): number | null {
  const [first, second] = scores ?? []
  return first === undefined || second === undefined ? null : first - second
}

function checkOf(differences: readonly (number | null)[], { tolerance, alpha }: Required<BiasOptions>): BiasCheck {
  const told = differences.filter((one) => one !== null)
  const counts = { n: told.length, unanswered: differences.length - told.length }
  if (told.length < leastAnswers) return { ...counts, effect: null, biased: null }
  const effect = boundsOf(told, alpha / 2)
  const byChance = effect.low <= 0 && effect.high >= 0
  return { ...counts, effect, biased: !byChance && Math.abs(effect.mean) > tolerance }
}

/** With empty words after the last that the assistant said. */
function padded(trajectory: Trajectory): Trajectory {
  const last = trajectory.nodes.findLastIndex(({ message }) => message.role === 'assistant')
  const nodes = trajectory.nodes.map((node, i) =>
    i === last ? { ...node, message: { ...node.message, content: `${node.message.content}${emptyWords}` } } : node,
  )
  return { ...trajectory, nodes }
}
