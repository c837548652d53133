import { TaskId } from '../../../core/index.ts'
import { type Gate, holdoutHash, PAIRED_GATE } from '../../../gate/index.ts'
import type { Finding } from '../../preflight/index.ts'

/** The share of the held-out tasks that a candidate has to gain, above which most candidates that are better are not promoted. */
const muchToGain = 0.2
/** So many held-out tasks are not too few. */
const plenty = 500

/**
 * How many of so many held-out tasks a candidate has to solve that what serves fails, where it loses none; `null` where the gate
 * promotes no such candidate, or asks for more than whether tasks are solved. Pure.
 */
export function winsNeeded(gate: Pick<Gate, 'alpha' | 'decide'>, tasks: number): number | null {
  const ids = Array.from({ length: tasks }, (_, i) => TaskId.parse(`task-${i}`))
  const none = { brokenCalls: 0, unfinished: 0 }
  const guards = { baseline: none, candidate: none }
  const use = { holdout: holdoutHash(ids), use: 1, alpha: gate.alpha, run: null, at: 0 }
  const promotes = (wins: number) =>
    gate.decide({
      outcomes: ids.map((task, i) => ({ task, baseline: 0, candidate: i < wins ? 1 : 0, guards })),
      use,
      rewardRange: [0, 1],
    }).decision === 'promote'
  if (!promotes(tasks)) return null
  let [low, high] = [0, tasks]
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    if (promotes(middle)) high = middle
    else low = middle
  }
  return high
}

/** Says where so few tasks are held out that only a large gain can be shown. */
export function fewTasksFindings(gate: Pick<Gate, 'name' | 'alpha' | 'decide'>, tasks: number): readonly Finding[] {
  // Another gate may ask for anything.
  if (gate.name !== PAIRED_GATE) return []
  const wins = winsNeeded(gate, tasks)
  // With other guards it promotes nobody here, however many tasks there are.
  if (wins === null ? winsNeeded(gate, plenty) === null : wins <= muchToGain * tasks) return []
  const asked =
    wins === null
      ? 'too few for any candidate to be promoted'
      : `a candidate is promoted only if it solves ${wins} or more that what serves fails, and more if it loses any`
  return [
    {
      severity: 'warn',
      code: 'learn/few-tasks',
      message: `${tasks} held-out tasks judge what is learned: ${asked}.`,
      hint: 'Hold out more tasks: 100 show a gain of a tenth, 400 one of a twentieth.',
      n: wins ?? tasks,
      of: tasks,
      example: null,
    },
  ]
}
