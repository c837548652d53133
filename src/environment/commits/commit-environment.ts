import { z } from 'zod'
import { type Action, type Environment, type Episode, type FinalState, Json, type Task } from '../../core/index.ts'
import { replyMessage } from '../reply.ts'
import { CommitsError } from './commits-error.ts'

/** What a function must return. */
const CommitTest = z.strictObject({ call: z.string(), args: z.array(Json), returns: Json })
export type CommitTest = z.infer<typeof CommitTest>

/** What the checker of a task from a commit needs: the agent sees none of it. */
export const CommitTaskData = z.strictObject({
  /** All tests, at least one of which fails before the commit. */
  tests: z.array(CommitTest).min(1),
  /** Those that pass before the commit, too: known to whoever has the file, so they may choose among answers. */
  known: z.array(CommitTest),
})
export type CommitTaskData = z.infer<typeof CommitTaskData>

/**
 * One answer to one task of `tasksFromCommits`: there are no tools. Its final state is `{ answer, tests, known }`, without
 * `known` where there are none: `testsPass({ tests: { at: '/tests' } })` checks what the agent said last.
 */
export class CommitEnvironment implements Environment {
  readonly name = 'commits'

  /**
   * @param _seed changes nothing: there is no chance in a commit.
   * @throws CommitsError when `task.data` is not a {@link CommitTaskData}.
   */
  open(task: Task, _seed: number): Episode {
    const read = CommitTaskData.safeParse(task.data)
    if (!read.success) {
      throw new CommitsError({
        code: 'environment/malformed-commit-task',
        message: `Task ${JSON.stringify(task.id)} was not made from a commit: ${z.prettifyError(read.error)}`,
        hint: 'Take the task from `tasksFromCommits`.',
      })
    }
    const { tests, known } = read.data
    let answer: string | null = null
    return {
      opening: [{ role: 'user', content: task.instruction }],
      tools: [],
      step(action: Action) {
        if (action.kind === 'message') answer ??= action.content
        if (answer !== null || action.kind === 'message') return { messages: [], done: true }
        const reply = { content: 'there are no tools: answer with the whole file', isError: true as const }
        return { messages: action.calls.map((call) => replyMessage(call, reply)), done: false }
      },
      close(): FinalState {
        return { state: { answer, tests, ...(known.length === 0 ? {} : { known }) }, counts: {} }
      },
    }
  }
}
