import { isUsers, type Message } from '../../core/index.ts'

/** Characters of an instruction that are kept. */
const longest = 2_000

/**
 * What stands for a Task's instruction in production: the first thing that the user said, or else the first thing that
 * anybody said. Never empty; of what no database can hold, nothing.
 */
export function instructionOf(messages: readonly Message[]): string {
  const users = messages.filter(isUsers)
  for (const { content } of [...users, ...messages]) {
    const text = content
      .slice(0, 2 * longest)
      .replaceAll(/[^\P{Cc}\n\t]|\p{Cs}/gu, ' ')
      .trim()
    if (text !== '' && text.length <= longest) return text
    // By characters: half of one is none.
    if (text !== '') return Array.from(text).slice(0, longest).join('')
  }
  return users.some(({ parts }) => parts !== undefined) ? '(no text)' : '(empty)'
}
