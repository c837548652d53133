import { z } from 'zod'
import { Task } from '../../core/index.ts'
import { type JsonlSource, readJsonl, refuseDuplicates } from './jsonl.ts'
import { SearchTaskData } from './task-data.ts'

const accepted = SearchTaskData.shape.accepted
const { id, instruction, split, tier, family } = Task.shape
const answer = z.union([accepted.element, accepted])
const TaskLine = z.strictObject({ id, instruction, answer, split, tier, family })

/**
 * Tasks from JSON Lines, one a line: `{"id", "instruction", "answer": "…" or ["…", …], "split", "tier"?, "family"?}`.
 * @throws MalformedCorpusError naming the line that is wrong; nothing is loaded then.
 */
export function tasksFromJsonl(source: JsonlSource): Task[] {
  const rows = readJsonl(source, TaskLine, 'task')
  refuseDuplicates(rows, 'id', (row) => row.id)
  return rows.map(({ value: { answer, ...task } }) => {
    const data: SearchTaskData = { accepted: Array.isArray(answer) ? answer : [answer] }
    return { ...task, data }
  })
}
