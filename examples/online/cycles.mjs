// The loop, unattended: people show, and a first release comes of it; then people use what there is, and release after
// release comes of that. Nobody but the gateway and its learner decides anything here.
import { setTimeout as delay } from 'node:timers/promises'
import { crowd } from './crowd.mjs'
import { beginning, steady } from './learning.mjs'
import { serve } from './serve.mjs'
import { converse, show } from './users.mjs'

/** So many sessions on the first day show what is right before nobody else comes; who is there by then shows it too. */
const shown = 28

/**
 * The first day: until what people showed is released.
 * @param promoted what promotions rest on: see `learning.mjs`.
 * @param tell told in one line what happens.
 * @returns how many sessions there were.
 */
export async function firstDay({ folder, world, seed, promoted, atOnce, tell }) {
  const news = watching(tell)
  const { place, stop } = await serve({
    folder,
    learn: beginning({ sessions: shown, ...promoted }),
    onEvent: news.onEvent,
  })
  try {
    const people = crowd({ place, world, seed, name: 'first', atOnce: 8, talk: show })
    await people.until(() => people.sessions.length >= shown)
    await people.stop()
    tell(`${people.sessions.length} people showed what is right`)
    while (news.tried === 0) await delay(500)
    const users = crowd({ place, world, seed, name: 'first', from: people.sessions.length, atOnce, talk: converse })
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
 * @param minutes how long all of it may take.
 * @returns `{ sessions, events, changes }`: what users did, what the learner told, and when tools changed.
 * @throws Error where the minutes are over before the cycles are: nothing may be concluded from some of them.
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
      if (news.over < wanted) {
        await users.stop()
        throw new Error(outOfTime({ minutes, over: news.over, plan, tools }))
      }
    }
    return { sessions: await users.stop(), events: news.events, changes }
  } finally {
    await stop()
  }
}

function outOfTime({ minutes, over, plan, tools }) {
  const planned = plan.reduce((sum, step) => sum + step.cycles, 0)
  return `${minutes} minutes are over, and ${over} of ${planned} cycles: it got no further than version ${tools} of the tools. Leave the machine to it alone, or raise \`minutes\` in examples/online/story.mjs, with which every seed begins anew; then run it again.`
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
      if (event.type === 'watched' && event.release !== null) news.released++
      if (event.type === 'watched' && event.status !== 'running') news.over++
      const line = lineOf(event)
      if (line !== null) tell(line)
    },
  }
  return news
}

function lineOf(event) {
  switch (event.type) {
    case 'learning':
      return `a run begins: ${event.reason}`
    case 'gathered':
      return `it learns from ${event.sessions} fresh sessions, mean reward ${event.meanReward?.toFixed(2)}, left out ${JSON.stringify(event.dropped)}`
    case 'tried':
      return `canary: ${100 * event.share} % of the sessions`
    case 'watched':
      return `canary: ${event.status}, ${event.action}: ${event.reason}`
    case 'problem':
      return `problem: ${event.message} [${event.code}]`
    default:
      return null
  }
}
