// What an agent asks and what the model says: conversations of a few calls, each of which holds all that came before.

/** Calls of a conversation. */
export const calls = 4

const words =
  'the build failed because the certificate of the registry had expired and nobody renewed it in time'.split(' ')

/** What the model always says: `count` words, each one token and one chunk of a stream. */
export const answerOf = (count) => Array.from({ length: count }, (_, i) => words[i % words.length]).join(' ')

const sentence = `${words.join(' ')}. `
const system = `You are the on-call engineer of a large shop. ${sentence.repeat(9)}`
const tool = (name, description) => ({
  type: 'function',
  function: {
    name,
    description,
    parameters: {
      type: 'object',
      properties: { query: { type: 'string', description: 'What to look for' }, limit: { type: 'integer' } },
      required: ['query'],
    },
  },
})
const tools = [
  tool('search_logs', 'Searches the logs of all services of the last day, newest first'),
  tool('read_file', 'Reads a file of the repository at the commit that is deployed'),
  tool('run_check', 'Runs one of the health checks and returns what it printed'),
]
const question = sentence.repeat(2).trim()

/**
 * Bodies of about 2.5 to 4 KB, all ASCII.
 * @param stream whether answers are streamed.
 * @param answer what the model said to each call before.
 */
export function bodiesOf({ stream, answer }) {
  const settings = { model: 'canned', stream, temperature: 0.7, max_tokens: 1024, tools }
  const [opening] = JSON.stringify({ ...settings, messages: [] }).split('"messages":[]}')
  const first = `${opening}"messages":[${JSON.stringify({ role: 'system', content: system })}`
  const said = `,${JSON.stringify({ role: 'assistant', content: answer })}`
  /** The body of one call of the conversation `id`; the upstream reports its times by the `number` of the request. */
  return (id, call, number) => {
    let body = first
    for (let turn = 0; turn <= call; turn++) {
      if (turn > 0) body += said
      body += `,{"role":"user","content":"Ticket ${id}, part ${turn}: ${question}"}`
    }
    return `${body}],"seed":${number}}`
  }
}
