// What weights can do: the same agent on held-out questions that nobody asked the gateway, answered in this process by
// any adapter of the store. Nothing of it is recorded.
import { answer } from './agent.mjs'
import { modelName } from './serve.mjs'
import { isRight } from './users.mjs'

/**
 * @param upstream `chatUpstream` with the store's adapters.
 * @param weights the value of a weights Version; `null`: the base.
 * @returns for each task whether the first answer was right: 1 or 0.
 */
export async function measure({ upstream, world, weights, tasks, toolsVersion = 1, atOnce = 32 }) {
  const create = async (request) => {
    const signal = new AbortController().signal
    return (await upstream.chat({ request, weights, history: null, authorization: null, signal })).completion
  }
  const client = { chat: { completions: { create } } }
  const scores = []
  let next = 0
  const work = async () => {
    while (next < tasks.length) {
      const at = next++
      const task = tasks[at]
      const messages = [{ role: 'user', content: task.instruction }]
      const tools = world.toolsFor(task, toolsVersion)
      const { text } = await answer({ client, model: modelName, messages, tools })
      scores[at] = isRight(text, task) ? 1 : 0
    }
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  return scores
}
