import { z } from 'zod'
import { type Action, type Environment, type Message, Task, type ToolDefinition } from '../../src/core/index.ts'

const Pages = z.object({ pages: z.array(z.string()) })

const tools: readonly ToolDefinition[] = [
  {
    name: 'open',
    description: 'Shows a page.',
    parameters: { type: 'object', properties: { page: { type: 'integer' } } },
  },
  { name: 'finish', description: 'Ends the task.', parameters: { type: 'object', properties: {} } },
]

/** A task over pages of text. */
export const pagesTask = (pages: readonly string[]): Task =>
  Task.parse({ id: 'pages', instruction: 'Read the pages.', data: { pages }, split: 'train' })

/** Tools `open {"page"}` and `finish`: results as long as one likes. What is said without a call, a user answers. */
export const pagesEnvironment: Environment = {
  name: 'pages',
  open({ data }) {
    const { pages } = Pages.parse(data)
    let finished = false
    return {
      opening: [],
      tools,
      step(action: Action) {
        if (action.kind === 'message') return { messages: [{ role: 'user', content: 'Go on.' }], done: false }
        const messages = action.calls.map(({ name, id, arguments: { page } }): Message => {
          finished ||= name === 'finish'
          const content = name === 'open' ? (pages[Number(page)] ?? 'no such page') : name
          return { role: 'tool', name, content, ...(id === undefined ? {} : { toolCallId: id }) }
        })
        return { messages, done: finished }
      },
      close: () => ({ state: { finished }, counts: {} }),
    }
  },
}
