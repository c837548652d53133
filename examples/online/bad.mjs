// Proof point 5: somebody forces a bad candidate into a canary. It was taught to read the wrong line of the right document.
import { rng } from 'ratchet/core'
import { mdn } from 'ratchet/environment/search'
import { crowd } from './crowd.mjs'
import { steady } from './learning.mjs'
import { plant } from './plant.mjs'
import { serve } from './serve.mjs'
import { demonstrationOf } from './world.mjs'

/** Nothing is learned meanwhile: the canary is what is looked at. */
const watchedOnly = (learn) => steady({ ...learn, sessions: 50_000, drift: false })

/**
 * @param from number of the first session.
 * @returns `{ ended, exposed, sessions }`: how it ended, how many sessions had the candidate, and of how many in all;
 * `ended` is null when it had not when `most` sessions were held.
 */
export async function forceBadCandidate({ folder, service, world, seed, from, most, atOnce, learn = {}, tell }) {
  const conversations = world.asked.slice(-32).map((task) => misread(task, world.toolsFor(task), seed))
  await plant({ folder, service, conversations, learn: watchedOnly(learn), seed })
  tell('a bad candidate is in a canary')
  let ended = null
  const onEvent = (event) => {
    if (event.type === 'looked' && event.status !== 'running') ended = event
    if (event.type === 'looked') tell(`canary: ${event.status}, ${event.action}: ${event.reason}`)
  }
  const { place, stop } = await serve({ folder, learn: watchedOnly(learn), onEvent })
  try {
    const users = crowd({ place, world, seed, name: 'forced', from, atOnce })
    await users.until(() => ended !== null || users.sessions.length >= most)
    const sessions = await users.stop()
    return { ended, sessions: sessions.length, next: from + sessions.length + atOnce }
  } finally {
    await stop()
  }
}

/** What a careless expert does: all look-ups are right, and the answer is another browser's. */
function misread(task, tools, seed) {
  const messages = demonstrationOf(task, tools)
  const { browser } = mdn.questionOf(task)
  const lines = messages
    .at(-2)
    .content.split('\n')
    .filter((line) => !line.startsWith(`${browser} `))
  const line = lines[rng('misread', seed, task.id).int(lines.length)]
  const version = line.slice(line.indexOf(' ') + 1)
  return [
    { role: 'user', content: task.instruction },
    ...messages.slice(0, -1),
    { role: 'assistant', content: `${browser} ${version}` },
  ]
}
