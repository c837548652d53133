// What weights can do: the same agent on questions that nobody asked the gateway, answered in this process by any adapter of
// a store. Nothing of it is recorded.
import { join } from 'node:path'
import { wilson } from 'ratchet-agents/gate'
import { chatUpstream } from 'ratchet-agents/model'
import { openStore } from 'ratchet-agents/store'
import { answer } from './agent.mjs'
import { modelName } from './serve.mjs'
import { isRight } from './users.mjs'

/**
 * Opens a store whose gateway has stopped, and what answers by its adapters.
 * @param work given `(store, scores)`: `scores(version, tasks, toolsVersion)` is 1 or 0 for each task, whether the first
 * answer was right; `version` is the id of a weights Version.
 */
export async function measuring({ folder, service, world }, work) {
  const store = await openStore({ path: join(folder, 'ratchet.db'), readonly: true })
  const upstream = chatUpstream({ name: 'measure', service, adapterBytes: (hash) => store.blobs.get(hash) })
  try {
    return await work(store, async (version, tasks, toolsVersion = 1) => {
      const { value } = await store.versions.get(version)
      return scoresOf({ upstream, world, weights: value, tasks, toolsVersion })
    })
  } finally {
    await upstream.close()
    await store.close()
  }
}

/** The share of answers that are right, with its 95 % interval (Wilson). */
export function share(scores) {
  const right = scores.reduce((sum, score) => sum + score, 0)
  return { right, n: scores.length, interval: wilson(right, scores.length, 0.95) }
}

async function scoresOf({ upstream, world, weights, tasks, toolsVersion, atOnce = 32 }) {
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
