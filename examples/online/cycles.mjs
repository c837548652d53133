// The loop, unattended: people show, and a first release comes of it; then people use what there is, and release after
// release comes of that. Nobody but the gateway and its learner decides anything here.
import { setTimeout as delay } from 'node:timers/promises'
import { crowd } from './crowd.mjs'
import { beginning, steady } from './learning.mjs'
import { serve } from './serve.mjs'
import { converse, show } from './users.mjs'

/** People who show what is right on the first day. */
const shown = 32

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
 * From then on: until so many releases were made, or so many sessions were held, or time is up.
 * @param from number of the first session: who came before is not asked again.
 * @param learn changes to the section `learn`.
 * @returns `{ sessions, events }`: what users did, and what the learner told, with times.
 */
export async function cycles({
  folder,
  world,
  seed,
  from,
  releases,
  most,
  atOnce,
  learn = {},
  toolsOf,
  minutes = 60,
  tell,
}) {
  const news = watching(tell)
  const { place, stop } = await serve({ folder, learn: steady(learn), onEvent: news.onEvent })
  const users = crowd({ place, world, seed, from, atOnce, toolsOf })
  const deadline = Date.now() + minutes * 60_000
  const over = () => news.released >= releases || users.sessions.length >= most || Date.now() > deadline
  try {
    await users.until(over)
    return { sessions: await users.stop(), events: news.events }
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
    onEvent: (event) => {
      news.events.push({ at: Date.now(), ...event })
      if (event.type === 'tried') news.tried++
      if (event.type === 'looked' && event.release !== null) news.released++
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
    case 'problem':
      return `problem: ${event.message} [${event.code}]`
    default:
      return null
  }
}
