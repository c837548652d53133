/**
 * The same calls through the gateway's own routes, as an OpenAI client makes them, with a scripted upstream behind it. Slower
 * than the recorder alone; a test holds that both come to the same.
 */
import { createGateway, readResponseId, ServeConfig } from '../../dist/gateway/index.js'

const TELEMETRY = { call: () => ({ firstToken() {}, end() {} }), signals() {} }

/**
 * @param parts as place.mjs has them; `candidateText` is the system prompt that tells the candidate.
 * @returns what place.mjs calls `call`.
 */
export function callsOverHttp({ recorder, clock, caller, agent, candidateText, weightsOf }) {
  /** What the upstream says next. */
  let next = null
  const upstream = {
    name: 'scripted',
    tellsTokens: false,
    servesAdapters: false,
    prepare: async () => {},
    models: async () => [],
    weights: (model) => weightsOf('scripted', model),
    embeddings: async () => ({}),
    close: async () => {},
    chat: async ({ request }) => {
      const said = next(request.messages[0].content === candidateText ? 'candidate' : 'baseline')
      clock.time += Math.round(1000 * said.seconds)
      return { kind: 'whole', completion: completionOf(said, request.model), upstream: 'scripted' }
    },
  }
  const doorkeeper = {
    identify: async () => caller,
    arrive: () => ({ enter: () => () => {}, leave() {} }),
  }
  const gateway = createGateway({
    config: ServeConfig.parse({}),
    upstream,
    recorder,
    doorkeeper,
    telemetry: TELEMETRY,
    clock,
  })
  return async ({ request, session, person }, answer) => {
    let [said, arm] = [null, null]
    next = (of) => {
      arm = of
      said = answer(of)
      return said
    }
    const response = await gateway.fetch(
      new Request(`http://gateway/s/${session}/v1/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'ratchet-agent': agent, 'ratchet-subject': person },
        body: JSON.stringify(request),
      }),
    )
    const body = await response.json()
    if (!response.ok) throw new Error(`the gateway refused a call: ${JSON.stringify(body)}`)
    return { arm, trajectory: readResponseId(body.id).trajectory, said }
  }
}

function completionOf({ message: { content, toolCalls = [] }, tokens, promptTokens }, model) {
  const tool_calls = toolCalls.map(({ id, name, arguments: args }) => ({
    id,
    type: 'function',
    function: { name, arguments: JSON.stringify(args) },
  }))
  const called = tool_calls.length > 0
  return {
    id: 'chatcmpl-scripted',
    object: 'chat.completion',
    created: 0,
    model,
    choices: [
      {
        index: 0,
        finish_reason: called ? 'tool_calls' : 'stop',
        logprobs: null,
        message: { role: 'assistant', content: called ? null : content, ...(called && { tool_calls }) },
      },
    ],
    usage: { prompt_tokens: promptTokens, completion_tokens: tokens, total_tokens: promptTokens + tokens },
  }
}
