import { printable, type Task } from '../core/index.ts'
import { type Corpus, unanswerable } from '../environment/index.ts'
import { InputError } from '../errors/index.ts'

/** From more than this share of the tasks on, nothing is to be learned before they are corrected. */
const tooMany = 0.2

/**
 * Looks whether documents hold the answers of their tasks.
 * @returns a line that warns of a few that have none, or of numbers that may have been worked out; or `null`.
 * @throws InputError when more than a fifth have none, numbers aside; it names some.
 */
export function answerableWarning(
  tasks: readonly Task[],
  corpus: Corpus,
  files: { readonly tasks: string; readonly corpus: string },
): string | null {
  const lost = unanswerable(tasks, corpus)
  if (lost.length === 0) return null
  const examples = lost
    .slice(0, 3)
    .map(({ task, answer }) => `"${printable(answer, 40)}" of the task "${printable(task.id, 40)}"`)
  const verb = lost.length === 1 ? 'has an accepted answer' : 'have accepted answers'
  const message = `${lost.length} of ${tasks.length} tasks of ${files.tasks} ${verb} that no document of ${files.corpus} holds: ${examples.join(', ')}.`
  const certain = lost.filter(({ workedOut }) => !workedOut)
  if (certain.length <= tooMany * tasks.length) return message
  throw new InputError({
    code: 'input/unanswerable-tasks',
    message,
    hint: 'Add documents that contain these answers, or remove these tasks.',
  })
}
