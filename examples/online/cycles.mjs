// The loop, unattended: people show, and a first release comes of it; then people use what there is, and release after
// release comes of that. Nobody but the gateway and its learner decides anything here.
import { setTimeout as delay } from 'node:timers/promises'
import { crowd } from './crowd.mjs'
import { beginning, steady } from './learning.mjs'
import { serve } from './serve.mjs'
import { converse, show } from './users.mjs'

/** People who show what is right on the first day. */
const shown = 28

/**
 * The first day: until what people showed is released.
 * @param tell told in one line what happens.
 * @returns how many sessions there were.
 */
export async function firstDay({ folder, world, seed, atOnce, tell }) {
  const news = watching(tell)
  const { place, stop } = await serve({ folder, learn: beginning({ sessions: shown }), onEvent: news.onEvent })
  try {
    const people = crowd({ place, world, seed, name: 'first', atOnce: 8, talk: show })
    await people.until(() => people.sessions.length >= shown)
    await people.stop()
    tell(`${people.sessions.length} people showed what is right`)
    while (news.tried === 0) await delay(500)
    const users = crowd({ place, world, seed, name: 'first', from: shown + 8, atOnce, talk: converse })
    await users.until(() => news.released > 0)
    const after = await users.stop()
    return people.sessions.length + after.length
  } finally {
    await stop()
  }
}

/**
 * From then on: so many cycles with each version of the tools, one after the other, in one process that nobody touches.
 * @param from number of the first session: who came before is not asked again.
 * @param plan `[{ tools, cycles }]`; a cycle is over when its canary is, whatever became of it.
 * @param learn changes to the section `learn`.
 * @returns `{ sessions, events, changes }`: what users did, what the learner told, and when tools changed.
 */
export async function cycles({ folder, world, seed, from, plan, atOnce, learn = {}, minutes = 30, tell }) {
  const news = watching(tell)
  let users = null
  const { place, stop } = await serve({
    folder,
    learn: steady(learn),
    onEvent(event) {
      news.onEvent(event)
      // Fewer people come while a run trains on the same two cores.
      if (event.type === 'gathered') users?.pace(atOnce / 8)
      if (event.type === 'learned') users?.pace(atOnce)
    },
  })
  let [{ tools }] = plan
  users = crowd({ place, world, seed, from, atOnce, toolsOf: () => tools })
  const deadline = Date.now() + minutes * 60_000
  const changes = []
  try {
    let wanted = 0
    for (const step of plan) {
      tools = step.tools
      changes.push({ at: Date.now(), session: users.sessions.length, tools })
      tell(`the tools are version ${tools} from here on`)
      wanted += step.cycles
      await users.until(() => news.over >= wanted || Date.now() > deadline)
    }
    return { sessions: await users.stop(), events: news.events, changes }
  } finally {
    await stop()
  }
}

/** Keeps what the learner tells, and counts canaries that began and releases that came of them. */
function watching(tell) {
  const news = {
    events: [],
    tried: 0,
    released: 0,
    over: 0,
    onEvent: (event) => {
      news.events.push({ at: Date.now(), ...event })
      if (event.type === 'tried') news.tried++
      if (event.type === 'looked' && event.release !== null) news.released++
      if (event.type === 'looked' && event.status !== 'running') news.over++
      const line = lineOf(event)
      if (line !== null) tell(line)
    },
  }
  return news
}

function lineOf(event) {
  switch (event.type) {
    case 'gathered':
      return `a run begins: ${event.sessions} fresh sessions, mean reward ${event.meanReward?.toFixed(2)}, left out ${JSON.stringify(event.dropped)}`
    case 'tried':
      return `canary: ${100 * event.share} % of the sessions`
    case 'looked':
      return `canary: ${event.status}, ${event.action}: ${event.reason}`
    case 'drift':
      return `drift: ${JSON.stringify(event)}`
    case 'problem':
      return `problem: ${event.message} [${event.code}]`
    default:
      return null
  }
}
