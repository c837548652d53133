import { loadMdn, mdn } from '../../dist/environment/search/index.js'

/**
 * Questions of the main job with the documents that answer them: one turn, since TRL's trainer takes one.
 * @typedef {{ prompt: number[], text: string, document: string, accepted: readonly string[] }} Asked
 */

/**
 * @param {import('../../dist/core/index.js').Renderer} renderer
 * @param {number} count
 * @param {boolean} open whether the documents stand before the question
 * @returns {Asked[]}
 */
export function askedTasks(renderer, count, open) {
  const { environment, tasks } = loadMdn({ wordings: 'few' })
  return tasks.train.slice(0, count).map((task) => {
    const document = read(environment.open(task, 0), mdn.questionOf(task).titles)
    const content = open ? `${document}\n\n${task.instruction}` : task.instruction
    const prompt = [...renderer.start([{ role: 'user', content }], [])]
    return { prompt, text: renderer.decode(prompt), document, accepted: task.data.accepted }
  })
}

/** What the environment shows of the documents of these titles. */
function read(episode, titles) {
  const shown = titles.map((title) => {
    episode.step({ kind: 'calls', calls: [{ name: 'search', arguments: { query: title } }] })
    const { messages } = episode.step({ kind: 'calls', calls: [{ name: 'open', arguments: { title } }] })
    return messages.map(({ content }) => content).join('\n')
  })
  episode.close()
  return shown.join('\n')
}

/**
 * The reward: the share of the answer's words that the documents have, and one for an accepted answer. Dense, so that
 * attempts at one task differ, and equal on both sides.
 * @param {string} answer @param {Asked} asked
 */
export function score(answer, { document, accepted }) {
  const known = new Set(words(document))
  const said = words(answer)
  const share = said.filter((word) => known.has(word)).length / Math.max(1, said.length)
  return share + (accepted.some((text) => answer.toLowerCase().includes(text.toLowerCase())) ? 1 : 0)
}

const words = (/** @type {string} */ text) => text.toLowerCase().match(/[a-z0-9.]+/g) ?? []
