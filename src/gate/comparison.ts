import type { PairedOutcome } from '../core/index.ts'
import type { GuardLimit } from './config.ts'
import { GateError } from './errors.ts'
import type { RewardRange } from './reward-range.ts'

/**
 * Paired differences, candidate − baseline, of all tasks: `low` with every missing score against the candidate (its
 * own at the floor, the baseline's at the ceiling), `high` with every missing score in its favour. What is shown by
 * `low` to be better, or by `high` to be worse, is so whatever the missing scores would have been.
 */
export interface Comparison {
  readonly low: readonly number[]
  readonly high: readonly number[]
  /** Differences lie in [−span, span]. */
  readonly span: number
  readonly tasks: number
  readonly missing: { readonly baseline: number; readonly candidate: number }
  /** Share of tasks that have a score in both arms. */
  readonly coverage: number
  /** Means over those tasks; `null` without any. */
  readonly means: { readonly baseline: number; readonly candidate: number } | null
}

/**
 * @throws GateError when there is no outcome, a task appears twice, or a score lies outside the range.
 */
export function compareScores(outcomes: readonly PairedOutcome[], [low, high]: RewardRange): Comparison {
  checkTasks(outcomes)
  for (const { task, baseline, candidate } of outcomes) {
    for (const score of [baseline, candidate]) {
      if (score === null || (score >= low && score <= high)) continue
      throw new GateError({
        code: 'gate/score-out-of-range',
        message: `The score ${score} of task "${task}" is outside the range of rewards [${low}, ${high}].`,
        hint: 'Give the floor and the ceiling of the rubric that scored the outcomes.',
      })
    }
  }
  const both = outcomes.flatMap(({ baseline, candidate }) =>
    baseline === null || candidate === null ? [] : [{ baseline, candidate }],
  )
  return {
    low: outcomes.map(({ baseline, candidate }) => (candidate ?? low) - (baseline ?? high)),
    high: outcomes.map(({ baseline, candidate }) => (candidate ?? high) - (baseline ?? low)),
    span: high - low,
    tasks: outcomes.length,
    missing: {
      baseline: outcomes.filter(({ baseline }) => baseline === null).length,
      candidate: outcomes.filter(({ candidate }) => candidate === null).length,
    },
    coverage: both.length / outcomes.length,
    means: both.length === 0 ? null : { baseline: mean(both, 'baseline'), candidate: mean(both, 'candidate') },
  }
}

/** By how much each task's guard metric got worse, clipped to the guard's range; tasks without it are left out. */
export function worsening(
  outcomes: readonly PairedOutcome[],
  name: string,
  { range: [low, high] }: GuardLimit,
): number[] {
  const clip = (value: number) => Math.min(Math.max(value, low), high)
  return outcomes.flatMap(({ guards }) => {
    const before = guards?.baseline[name]
    const after = guards?.candidate[name]
    return before === undefined || after === undefined ? [] : [clip(after) - clip(before)]
  })
}

/** +1 where only the candidate's score is missing, −1 where only the baseline's is. */
export function missingMoreOften(outcomes: readonly PairedOutcome[]): number[] {
  return outcomes.map(({ baseline, candidate }) => Number(candidate === null) - Number(baseline === null))
}

/** In the order of their task ids: sums of the same numbers are then equal to the last bit. */
export function inOrder(outcomes: readonly PairedOutcome[]): PairedOutcome[] {
  return outcomes.toSorted((a, b) => (a.task < b.task ? -1 : 1))
}

function checkTasks(outcomes: readonly PairedOutcome[]): void {
  if (outcomes.length === 0) {
    throw new GateError({
      code: 'gate/no-outcomes',
      message: 'There is no outcome to decide from.',
      hint: 'Give one outcome for each held-out task, with null scores where the evidence is missing.',
    })
  }
  const seen = new Set<string>()
  for (const { task } of outcomes) {
    if (seen.has(task)) {
      throw new GateError({
        code: 'gate/duplicate-task',
        message: `The task "${task}" appears twice among the outcomes.`,
        hint: 'Average the attempts at one task into one outcome: tasks are the unit of evidence.',
      })
    }
    seen.add(task)
  }
}

function mean<K extends string>(rows: readonly Record<K, number>[], key: K): number {
  return rows.reduce((sum, row) => sum + row[key], 0) / rows.length
}
