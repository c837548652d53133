import type { HoldoutTask, LearnableTask, Task } from '../../core/index.ts'
import { counted, type Finding, quoted } from './finding.ts'
import { firstUserMessage } from './known-tasks.ts'
import type { WrittenDemonstration } from './written-demonstration.ts'

/** Tasks of a source, by what they are for. */
export interface SplitTasks {
  readonly train: readonly LearnableTask[]
  readonly validation: readonly Task<'validation'>[]
  readonly holdout: readonly HoldoutTask[]
}

/**
 * Demonstrations of tasks that are to judge what was learned: imitated, they would be measured by heart. A demonstration is of
 * such a task where it names it, or where it asks the same and no training task does. Pure.
 */
export function heldOutFindings(
  demonstrations: readonly WrittenDemonstration[],
  { train, validation, holdout }: SplitTasks,
): readonly Finding[] {
  const kept = [...validation, ...holdout]
  const [trained, judging] = [asked(train), asked(kept)]
  const ids = new Map(kept.map(({ id, split }) => [id, split] as const))
  const found = demonstrations.flatMap(({ task, messages }, i) => {
    const said = firstUserMessage(messages)?.trim() ?? ''
    const same = trained.has(said) ? undefined : judging.get(said)
    const split = task === undefined ? same : ids.get(task.id)
    return split === undefined ? [] : [`demonstration ${i + 1}, ${quoted(said)}, is a ${split} task`]
  })
  const [example] = found
  if (example === undefined) return []
  return [
    {
      severity: 'stop',
      code: 'learn/held-out-demonstration',
      message: `${counted(found.length, demonstrations.length, 'demonstration', ['is', 'are'])} of a task that is to judge what was learned. For example, ${example}.`,
      hint: 'Give other tasks to validation and holdout than the demonstrated ones, or leave these demonstrations out.',
      n: found.length,
      of: demonstrations.length,
      example,
    },
  ]
}

const asked = <S extends string>(
  tasks: readonly { readonly instruction: string; readonly split: S }[],
): ReadonlyMap<string, S> => new Map(tasks.map(({ instruction, split }) => [instruction.trim(), split]))
