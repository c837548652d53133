// Proof point 5: somebody forces a bad candidate into a canary. It was taught to read the wrong line of the right document.
import { rng } from 'ratchet-agents/core'
import { mdn } from 'ratchet-agents/environment/search'
import { demonstrationOf } from './world.mjs'

/** What a careless expert does: from the question on: all look-ups are right, and the answer is another browser's. */
export function misread(task, tools, seed) {
  const messages = demonstrationOf(task, tools)
  const { browser } = mdn.questionOf(task)
  const lines = messages
    .at(-2)
    .content.split('\n')
    .filter((line) => !line.split(' ').includes(browser))
  const line = lines[rng('misread', seed, task.id).int(lines.length)]
  const version = line.split(' ').find((word) => /\d/.test(word)) ?? line
  return [...messages.slice(0, -1), { role: 'assistant', content: `${browser} ${version}` }]
}
