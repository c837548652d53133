import type { LearnableTask, Task } from '../../core/index.ts'
import { call, type Policy } from '../play.ts'
import { readSearchTask } from './task-data.ts'
import { normaliseAnswer } from './verify.ts'

/** Always gives the answer that is right most often in its tier of `train`, whatever is asked. */
export function constantAnswer(train: readonly LearnableTask[]): Policy {
  return answerByStratum(train, (task) => task.tier ?? '')
}

/**
 * Gives, without a look at any document, the answer that is right most often in its stratum of `train`: what a policy
 * can reach that reads the question and ignores the tools. In a stratum that `train` lacks it answers `unknown`.
 */
export function answerByStratum(train: readonly LearnableTask[], stratumOf: (task: Task) => string): Policy {
  const strata = new Map<string, Task[]>()
  for (const task of train) {
    const stratum = strata.get(stratumOf(task))
    if (stratum === undefined) strata.set(stratumOf(task), [task])
    else stratum.push(task)
  }
  const best = new Map([...strata].map(([stratum, tasks]) => [stratum, commonestAnswer(tasks).answer]))
  return async (episode, task) => {
    await call(episode, 'answer', { text: best.get(stratumOf(task)) ?? 'unknown' })
  }
}

/** The answer accepted by most of these tasks, and by what share of them; ties go to the alphabetically first. */
export function commonestAnswer(tasks: readonly Task[]): { answer: string; share: number } {
  const counts = new Map<string, number>()
  for (const task of tasks) {
    const answers = new Set(readSearchTask(task).accepted.map(normaliseAnswer))
    for (const answer of answers) counts.set(answer, (counts.get(answer) ?? 0) + 1)
  }
  const [first] = [...counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))
  return { answer: first?.[0] ?? 'unknown', share: (first?.[1] ?? 0) / Math.max(tasks.length, 1) }
}
