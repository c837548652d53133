// The scripted model's tokens: words and the white space between them. Its ids depend on the text alone, and a
// conversation that goes on begins with exactly the tokens that were read and sampled before.

/** Ends every turn; sampled too. */
export const END = 0

/** FNV-1a, in 24 bits, never 0. */
function idOf(piece) {
  let hash = 0x811c9dc5
  for (let i = 0; i < piece.length; i += 1) hash = Math.imul(hash ^ piece.charCodeAt(i), 0x01000193)
  return 1 + ((hash >>> 8) % 0xffffff)
}

export const piecesOf = (text) => text.match(/\s+|\S+/gu) ?? []

/** @returns {{ text: string, id: number, logprob: number }[]} */
export const tokensOf = (text) =>
  piecesOf(text).map((piece) => {
    const id = idOf(piece)
    return { text: piece, id, logprob: -((id % 1000) + 1) / 1000 }
  })

export const endToken = { text: '', id: END, logprob: -0.125 }

const idsOf = (text) => piecesOf(text).map(idOf)

/** What the policy says in one turn, as text that holds everything that was sampled. */
export function sampledText({ reasoning = '', content = '', toolCalls = [] }) {
  const calls = toolCalls.map((call) => `<call>${call.name} ${call.arguments}</call>`)
  return `${reasoning && `<think>${reasoning}</think>`}${content ?? ''}${calls.join('')}`
}

/** The tokens of a conversation, up to where the assistant is to speak. */
export function promptTokens(messages, tools) {
  const opening = tools?.length ? [...idsOf(`tools ${JSON.stringify(tools)}`), END] : []
  return [...opening, ...messages.flatMap(turnTokens), ...idsOf('assistant:')]
}

function turnTokens(message) {
  const text = textOf(message.content)
  if (message.role !== 'assistant') return [...idsOf(`${message.role}:`), ...idsOf(text), END]
  const toolCalls = (message.tool_calls ?? []).map(({ function: f }) => ({ name: f.name, arguments: f.arguments }))
  const said = sampledText({ reasoning: message.reasoning_content ?? '', content: text, toolCalls })
  return [...idsOf('assistant:'), ...idsOf(said), END]
}

export function textOf(content) {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content.map((part) => (typeof part?.text === 'string' ? part.text : '')).join('')
}
