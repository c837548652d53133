import type { DemonstratedEpisode, Message } from '../../src/core/index.ts'

/** A message that calls a tool. */
export const call = (name: string, args: Record<string, string>): Message => ({
  role: 'assistant',
  content: '',
  toolCalls: [{ name, arguments: args }],
})

/** A demonstration that searches a title, opens it and answers what stands there. */
export const lookup = (
  title: string,
  siblings: readonly string[],
  { document = 'chrome 9\nedge 12', answer = 'edge 12' } = {},
): DemonstratedEpisode => ({
  messages: [
    { role: 'user', content: `Since when has edge ${title}?` },
    call('search', { query: title }),
    { role: 'tool', name: 'search', content: [title, ...siblings].join('\n') },
    call('open', { title }),
    { role: 'tool', name: 'open', content: document },
    call('answer', { text: answer }),
  ],
})
