/** A model that is a program: what it says is a function of the text of its prompt. A token is a word, or the space between two. */

/** Words as token ids, and back. */
class Words {
  #ids = new Map()
  #pieces = ['']

  encode(text) {
    return (text.match(/\s+|\S+/g) ?? []).map((piece) => {
      const known = this.#ids.get(piece)
      if (known !== undefined) return known
      this.#ids.set(piece, this.#pieces.push(piece) - 1)
      return this.#pieces.length - 1
    })
  }

  decode(tokens) {
    return tokens.map((token) => this.#pieces[token] ?? '').join('')
  }
}

const end = 0

/**
 * @param says what is said to a prompt; a call is a line `!name {"json": "arguments"}`.
 * @param onPrompt told of every prompt, as tokens.
 */
export function programModel(says, onPrompt = () => {}) {
  const words = new Words()
  const said = ({ content, toolCalls = [] }) => [
    ...words.encode(
      [content, ...toolCalls.map((call) => `!${call.name} ${JSON.stringify(call.arguments)}`)]
        .filter(Boolean)
        .join('\n'),
    ),
    end,
  ]
  const turn = (message) => [
    ...words.encode(`\n${message.role}: `),
    ...(message.role === 'assistant' ? said(message) : [...words.encode(message.content), end]),
  ]
  const shown = (messages) => [...messages.flatMap(turn), ...words.encode('\nassistant: ')]
  const parse = (tokens) => {
    const text = words.decode(tokens)
    const [, name, given] = /^!(\w+) (.*)$/.exec(text) ?? []
    if (name === undefined) return { role: 'assistant', content: text }
    return { role: 'assistant', content: '', toolCalls: [{ name, arguments: JSON.parse(given) }] }
  }
  const renderer = {
    name: 'words',
    stop: { strings: [], tokens: [end] },
    start: (messages, tools) => [
      ...words.encode(`tools: ${tools.map(({ name }) => name).join(' ')} .`),
      ...shown(messages),
    ],
    extend: (messages, closed) => [...(closed ? [] : [end]), ...shown(messages)],
    parse,
    renderAssistant: said,
    decode: (tokens) => words.decode(tokens),
    bytes: (token) => new TextEncoder().encode(words.decode([token])),
  }
  const sampler = {
    capabilities: { model: 'program', vocabularySize: 2 ** 31, contextLength: 1_000_000, deterministic: true },
    async sample({ prompt }) {
      onPrompt(prompt)
      const tokens = [...words.encode(says(words.decode(prompt))), end]
      const zeros = tokens.map(() => 0)
      return [{ tokens, behaviourLogprobs: zeros, logprobs: zeros, stopReason: 'stop' }]
    },
    unload: async () => {},
  }
  const none = () => Promise.reject(new Error('a program learns no weights'))
  return {
    base: 'program',
    baseHash: 'program',
    renderer,
    sampler,
    trainer: none,
    loadAdapter: none,
    close: async () => {},
  }
}
