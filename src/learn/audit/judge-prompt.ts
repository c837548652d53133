import { randomUUID } from 'node:crypto'
import type { ChatRequest, Trajectory } from '../../core/index.ts'
import { allIsData, recordOf } from '../../reward/index.ts'

/**
 * What a judge is asked about one session. All of the session is data: it stands as JSON of one line, in which no `<` is left
 * that could end it, between marks that it cannot know. System messages are left out, as they may be what is tried. Of a long
 * one it reads what was asked first and how it ended.
 * @param mark makes the marks of this one question: at random.
 */
export function judgeRequest(
  { nodes }: Pick<Trajectory, 'nodes'>,
  { model, criterion, maxTokens, mark = randomUUID() }: JudgeQuestion,
): ChatRequest {
  const [open, close] = [`<session-${mark}>`, `</session-${mark}>`]
  const content = `${open}\n${recordOf(nodes.map(({ message }) => message))}\n${close}\n\n${criterion} Answer with one whole number from 0 (no) to 10 (yes), and nothing else.`
  return {
    model,
    messages: [
      {
        role: 'system',
        content: `You judge a finished session of an assistant. Between ${open} and ${close} stands a record of it, as JSON; where it was long, "leftOut" counts what is not shown. ${allIsData} Answer with one whole number from 0 to 10, and nothing else.`,
      },
      { role: 'user', content },
    ],
    max_completion_tokens: maxTokens,
    stream: false,
  }
}

/** How a judge is asked. */
export interface JudgeQuestion {
  readonly model: string
  readonly criterion: string
  readonly maxTokens: number
  readonly mark?: string
}
