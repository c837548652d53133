// A support agent on the OpenAI SDK, as one finds it anywhere: a loop over tools. Nothing in it knows Ratchet.

/** More turns than this end a session without an answer. */
const mostTurns = 6

/**
 * Goes on with a conversation until the agent says something to the user.
 * @param messages the conversation so far, the user's question last; what is said and looked up is added to it.
 * @param tools `{ definitions, run(name, arguments) }`.
 * @returns `{ text, ids }`: the answer, and the ids of all completions that led to it; `text` is null when none did.
 */
export async function answer({ client, model, messages, tools, temperature = 0.7 }) {
  const ids = []
  for (let turn = 0; turn < mostTurns; turn++) {
    const completion = await client.chat.completions.create({
      model,
      messages,
      tools: tools.definitions,
      temperature,
      max_tokens: 32,
    })
    const [{ message }] = completion.choices
    ids.push(completion.id)
    messages.push(message)
    if (!message.tool_calls?.length) return { text: message.content || null, ids }
    for (const call of message.tool_calls) {
      messages.push({ role: 'tool', tool_call_id: call.id, content: run(tools, call.function) })
    }
  }
  return { text: null, ids }
}

function run(tools, { name, arguments: text }) {
  try {
    return tools.run(name, JSON.parse(text))
  } catch (error) {
    return `error: ${error.message}`
  }
}
