// What the scripted model says, whole and in chunks.
import { endToken, promptTokens, sampledText, textOf, tokensOf } from './tokens.mjs'

let count = 0
const created = () => Math.floor(Date.now() / 1000)

export const modelsOf = ({ models }) => ({
  object: 'list',
  data: models.map((id) => ({ id, object: 'model', created: 1_700_000_000, owned_by: 'scripted' })),
})

/** The answer in full and as the chunks that vLLM and OpenAI would send. */
export function answersTo(body, settings) {
  const envelope = {
    id: `chatcmpl-${((count += 1)).toString(36)}`,
    created: created(),
    model: settings.servedModel ?? body.model,
  }
  const said = settings.say?.(body) ?? defaultAnswer(body)
  const n = body.n ?? 1
  const answers = Array.from({ length: n }, (_, i) =>
    cutOff(Array.isArray(said) ? said[i % said.length] : said, i, body),
  )
  const prompt = promptTokens(body.messages, body.tools)
  const tells = settings.tellsTokens === true && body.return_token_ids === true
  const wants = { tells, logprobs: body.logprobs === true && settings.logprobs !== 'none', top: body.top_logprobs ?? 0 }
  const completionTokens = answers.reduce((sum, answer) => sum + answer.tokens.length, 0)
  const usage = {
    prompt_tokens: prompt.length,
    completion_tokens: completionTokens,
    total_tokens: prompt.length + completionTokens,
    ...(settings.cachedTokens === undefined ? {} : { prompt_tokens_details: { cached_tokens: settings.cachedTokens } }),
  }
  return {
    get completion() {
      return {
        ...envelope,
        object: 'chat.completion',
        choices: answers.map((answer) => choiceOf(answer, wants)),
        ...(settings.usage === false ? {} : { usage }),
        ...(tells ? { prompt_token_ids: prompt } : {}),
      }
    },
    get chunks() {
      const chunks = []
      const push = (choices, more = {}) =>
        chunks.push({ ...envelope, object: 'chat.completion.chunk', choices, ...more })
      for (const { index } of answers) {
        const opening = { index, delta: { role: 'assistant', content: '' }, logprobs: null, finish_reason: null }
        push([opening], tells ? { prompt_token_ids: prompt } : {})
      }
      const perChoice = answers.map((answer) => deltasOf(answer, wants, settings.tokensPerChunk))
      const longest = Math.max(...perChoice.map(({ length }) => length))
      for (let i = 0; i < longest; i += 1) for (const deltas of perChoice) if (deltas[i]) push([deltas[i]])
      if (body.stream_options?.include_usage === true && settings.usage !== false) push([], { usage })
      return chunks
    },
  }
}

/** `!name {"json": "arguments"}` lines of the user are called as tools; JSON is said when JSON is asked for. */
function defaultAnswer(body) {
  const last = body.messages.at(-1)
  const text = textOf(last?.content)
  if (last?.role === 'tool') return { content: `The tool said: ${text}` }
  const known = new Set((body.tools ?? []).map((tool) => tool.function.name))
  const calls = [...text.matchAll(/^!([\w.-]+)\s*(.*)$/gmu)].filter(([, name]) => known.has(name))
  if (calls.length > 0 && body.tool_choice !== 'none') {
    const few = body.parallel_tool_calls === false ? calls.slice(0, 1) : calls
    return { content: null, toolCalls: few.map(([, name, json]) => ({ name, arguments: json || '{}' })) }
  }
  const format = body.response_format?.type
  if (format === 'json_object') return { content: JSON.stringify({ said: text }) }
  if (format === 'json_schema') return { content: JSON.stringify(instanceOf(body.response_format.json_schema?.schema)) }
  return { content: `You said: ${text}` }
}

/** The least value that a JSON schema allows, near enough. */
function instanceOf(schema = {}) {
  if (schema.enum) return schema.enum[0]
  if ('const' in schema) return schema.const
  switch (Array.isArray(schema.type) ? schema.type[0] : schema.type) {
    case 'object':
      return Object.fromEntries(Object.entries(schema.properties ?? {}).map(([key, value]) => [key, instanceOf(value)]))
    case 'array':
      return []
    case 'integer':
    case 'number':
      return 1
    case 'boolean':
      return true
    case 'null':
      return null
    default:
      return 'text'
  }
}

/** One choice, with the tokens that were sampled for it and why it ended. */
function cutOff(answer, index, body) {
  const said = typeof answer === 'string' ? { content: answer } : answer
  const toolCalls = (said.toolCalls ?? []).map((call, i) => ({
    id: call.id ?? `call_${index}_${body.messages.length}_${i}`,
    name: call.name,
    arguments: typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments ?? {}),
  }))
  const most = body.max_completion_tokens ?? body.max_tokens ?? Number.POSITIVE_INFINITY
  const whole = { reasoning: said.reasoning ?? '', content: said.content ?? null, toolCalls }
  const tokens = [...tokensOf(sampledText(whole)), endToken]
  if (tokens.length <= most || toolCalls.length > 0) {
    return { index, ...whole, tokens, finish: said.finish ?? (toolCalls.length > 0 ? 'tool_calls' : 'stop') }
  }
  const content = tokensOf(whole.content ?? '').slice(0, most)
  return {
    index,
    reasoning: '',
    content: content.map(({ text }) => text).join(''),
    toolCalls: [],
    tokens: content,
    finish: said.finish ?? 'length',
  }
}

const logprobsOf = (tokens, { logprobs, top }) =>
  logprobs
    ? {
        content: tokens.map(({ text, logprob }) => ({
          token: text,
          logprob,
          bytes: [...Buffer.from(text)],
          top_logprobs: top > 0 ? [{ token: text, logprob, bytes: [...Buffer.from(text)] }] : [],
        })),
      }
    : null

const wireCall = ({ id, name, arguments: args }) => ({ id, type: 'function', function: { name, arguments: args } })

function choiceOf({ index, reasoning, content, toolCalls, tokens, finish }, wants) {
  return {
    index,
    message: {
      role: 'assistant',
      content,
      refusal: null,
      ...(reasoning ? { reasoning_content: reasoning } : {}),
      ...(toolCalls.length > 0 ? { tool_calls: toolCalls.map(wireCall) } : {}),
    },
    logprobs: logprobsOf(tokens, wants),
    finish_reason: finish,
    ...(wants.tells ? { token_ids: tokens.map(({ id }) => id) } : {}),
  }
}

/** The choices of the chunks of one answer, in order; every sampled token is in exactly one. */
function deltasOf(answer, wants, tokensPerChunk) {
  const { index, reasoning, content, toolCalls, tokens, finish } = answer
  const deltas = []
  let told = 0
  const push = (delta, count, end = null) => {
    const some = tokens.slice(told, told + count)
    told += some.length
    deltas.push({
      index,
      delta,
      logprobs: logprobsOf(some, wants),
      finish_reason: end,
      ...(wants.tells ? { token_ids: some.map(({ id }) => id) } : {}),
    })
  }
  const inPieces = (text, deltaOf) => {
    const pieces = tokensOf(text)
    for (let i = 0; i < pieces.length; i += tokensPerChunk) {
      const some = pieces.slice(i, i + tokensPerChunk)
      push(deltaOf(some.map((piece) => piece.text).join('')), some.length)
    }
  }
  if (reasoning) inPieces(reasoning, (text) => ({ reasoning_content: text }))
  if (content) inPieces(content, (text) => ({ content: text }))
  toolCalls.forEach((call, at) => {
    push({ tool_calls: [{ index: at, ...wireCall({ ...call, arguments: '' }) }] }, 1)
    inPieces(call.arguments, (text) => ({ tool_calls: [{ index: at, function: { arguments: text } }] }))
  })
  push({}, tokens.length - told, finish)
  return deltas
}
