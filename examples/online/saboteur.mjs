// Proof point 4: one user floods the gateway with sessions and shows, in each, what is wrong. What a run then learns is
// compared with what it learns when nobody lies, with and without limits on what one reporter may decide.
import { misread } from './bad.mjs'
import { copyOf } from './copy.mjs'
import { crowd } from './crowd.mjs'
import { steady } from './learning.mjs'
import { serve } from './serve.mjs'
import { sendDemonstration } from './users.mjs'

/**
 * @param folder the store to begin from; copies of it are made beside it.
 * @param honest sessions of people, and as many of the saboteur's.
 * @returns for each arm `{ name, folder, run, candidate, leftOut }`: the Version that its run made, in its store.
 */
export async function sabotage({ folder, world, seed, from, honest, toolsVersion, atOnce, tell }) {
  const toolsOf = () => toolsVersion
  const visit = async (at, name, more) => {
    const { place, stop } = await serve({ folder: at, learn: undefined })
    try {
      const users = crowd({ place, world, seed, name, from, atOnce, toolsOf, ...more })
      await users.until(() => users.sessions.length >= honest)
      return (await users.stop()).length
    } finally {
      await stop()
    }
  }
  const liar = (options) =>
    sendDemonstration({ ...options, user: 'saboteur', show: (task, tools) => misread(task, tools, seed) })
  const people = copyOf(folder, `${folder}-people`)
  const sessions = { honest: await visit(people, 'people') }
  const lies = copyOf(people, `${folder}-lies`)
  sessions.saboteur = await visit(lies, 'liar', { talk: liar })
  tell(`${sessions.honest} sessions of people, ${sessions.saboteur} of the saboteur's`)
  const arms = []
  for (const { name, base, reporters } of [
    { name: 'nobody lies', base: people, reporters: {} },
    { name: 'limits on', base: lies, reporters: {} },
    { name: 'limits off', base: lies, reporters: { share: 1 } },
  ]) {
    const at = copyOf(base, `${folder}-${name.replace(' ', '-')}`)
    arms.push({ name, folder: at, ...(await learnOnce({ folder: at, learn: { reporters, limit: 2 * honest } })) })
    tell(`a run has learned where ${name}`)
  }
  return { sessions, arms }
}

/** One run, in shadow: nobody gets what it makes. */
async function learnOnce({ folder, learn }) {
  let gathered = null
  let over
  const learned = new Promise((resolve, reject) => {
    over = { resolve, reject }
  })
  const onEvent = (event) => {
    if (event.type === 'gathered') gathered = event
    // What the agent was learning when its cycles ended is finished first: that run knows nothing of these sessions.
    if (event.type === 'learned' && gathered !== null) over.resolve(event.summary)
    if (event.type === 'problem') over.reject(new Error(`${event.message} [${event.code}]`))
  }
  const section = steady({ ...learn, sessions: 50, mode: 'shadow', drift: false })
  const { stop } = await serve({ folder, learn: section, onEvent })
  try {
    const { runId: run, candidate } = await learned
    return { run, candidate, leftOut: { sessions: gathered.dropped['over-share'] ?? 0, signals: gathered.flood } }
  } finally {
    await stop()
  }
}
