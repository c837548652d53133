import { type Evaluate, type LearnableTask, rng, type Seat, TaskId, VersionId } from '../../src/core/index.ts'
import { attemptsOf, scored, vetoed } from './trajectories.ts'

type Value = { readonly text: string }

/** Training and validation tasks of a seat. */
export const seatTasks: readonly LearnableTask[] = Array.from({ length: 20 }, (_, i) => ({
  id: TaskId.parse(`task-${i}`),
  instruction: `Question ${i}`,
  data: null,
  split: i < 12 ? 'train' : 'validation',
}))

/**
 * A seat whose attempts earn what `reward` says of a text and the number of a task; `null`: a guard vetoed it.
 * `attempted`: each text that was attempted, with the task.
 */
export function textSeat(text: string, reward: (text: string, task: number) => number | null) {
  const attempted: { readonly text: string; readonly task: string }[] = []
  const evaluate: Evaluate<Value> = async (value, tasks) =>
    tasks.flatMap(({ id }) => {
      attempted.push({ text: value.text, task: id })
      const earned = reward(value.text, Number(id.slice(5)))
      const nodes = [
        { id: 'n0', message: { role: 'user', content: id } as const },
        { id: 'n1', parent: 'n0', message: { role: 'assistant', content: `answer of ${id}` } as const },
      ]
      const reply = earned === null ? vetoed(-1) : scored(earned)
      return attemptsOf([reply], { task: id, nodes, decisions: [] }).map((attempt) => ({
        ...attempt,
        trajectory: {
          ...attempt.trajectory,
          steps: [{ index: 0, action: nodes[1]?.id as never, observations: [], decisions: [] }],
        },
      }))
    })
  const seat: Seat<Value> = {
    parameter: 'system',
    version: VersionId.parse('v0'),
    value: { text },
    rng: (...key) => rng('seat', ...key),
    evaluate,
    tasks: seatTasks,
  }
  return { seat, attempted }
}
