// Users who keep coming: so many at once, each with a question of their own, until they are told to stop.
import { setTimeout as delay } from 'node:timers/promises'
import { rng } from 'ratchet-agents/core'
import { converse } from './users.mjs'

/** People who ask; everyone comes back. */
const people = 400

/**
 * @param world what they ask about; `session` numbers go on from `from`.
 * @param toolsOf the version of the tools that a session's agent has, by the session's number.
 * @param talk how a session goes; by default as people do.
 * @returns `{ sessions, until, pace, stop }`: what happened so far, in the order in which it ended; and what sends them home.
 */
export function crowd({
  place,
  world,
  seed,
  name = 'live',
  from = 0,
  atOnce = 16,
  toolsOf = () => 1,
  talk = converse,
}) {
  const sessions = []
  const home = new AbortController()
  let next = from
  let most = atOnce
  const come = async (seat) => {
    while (!home.signal.aborted) {
      if (seat >= most) {
        await delay(200)
        continue
      }
      const number = next++
      const task = world.asked[number % world.asked.length]
      const chance = rng('user', seed, name, number)
      const began = Date.now()
      const { right, acts } = await talk({
        place,
        toolsFor: (of) => world.toolsFor(of, toolsOf(number)),
        task,
        other: world.others[number % world.others.length],
        session: `${name}-${number}`,
        user: `user-${number % people}`,
        random: () => chance.next(),
      })
      sessions.push({ number, began, right, acts, version: toolsOf(number) })
    }
  }
  const all = Promise.all(Array.from({ length: atOnce }, (_, seat) => come(seat)))
  // A user that fails is told when the others are sent home.
  all.catch(() => home.abort())
  return {
    sessions,
    /** Waits for something; a user that fails ends it, with the error. */
    async until(holds) {
      while (!holds()) {
        if (home.signal.aborted) return all
        await delay(200)
      }
    },
    /** So many come at once from now on, at most `atOnce`. */
    pace(now) {
      most = now
    },
    async stop() {
      home.abort()
      await all
      return sessions
    },
  }
}
