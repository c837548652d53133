// A candidate that nobody asked for is tried on live sessions: planted while the gateway is down, judged by the gateway's
// own watch. Nothing is learned meanwhile.
import { crowd } from './crowd.mjs'
import { steady } from './learning.mjs'
import { plant } from './plant.mjs'
import { serve } from './serve.mjs'

/** So many sessions never come: no run begins, and the canary is what is looked at. */
const nobodyLearns = { sessions: 50_000, drift: false }

/**
 * @param conversations what the candidate was taught: see `plant`.
 * @param tasks what people ask about; by default, what they always do.
 * @param learn changes to the section `learn`.
 * @param most sessions after which nobody waits any longer.
 * @returns how it ended: `{ status, reason, step, judged, exposed, held }`; `judged` are the sessions of both arms that the
 * verdict rests on, `exposed` those that had the candidate, `held` all that were held.
 */
export async function tryCandidate({
  folder,
  service,
  world,
  conversations,
  tasks = world.asked,
  toolsVersion = 1,
  learn = {},
  seed,
  name,
  from,
  most,
  atOnce,
  tell,
  ...training
}) {
  const section = steady({ ...learn, ...nobodyLearns })
  const canary = await plant({ folder, service, conversations, learn: section, seed, ...training })
  let ended = null
  const onEvent = (event) => {
    if (event.type !== 'watched') return
    tell(`${name}: ${event.status}, ${event.action}: ${event.reason}`)
    if (event.status !== 'running') ended = event
  }
  const { place, stop } = await serve({ folder, learn: section, onEvent })
  try {
    const asking = { ...world, asked: tasks }
    const users = crowd({ place, world: asking, seed, name, from, atOnce, toolsOf: () => toolsVersion })
    await users.until(() => ended !== null || users.sessions.length >= most)
    const held = (await users.stop()).length
    return { status: ended?.status ?? 'running', reason: ended?.reason ?? null, held, canary }
  } finally {
    await stop()
  }
}
