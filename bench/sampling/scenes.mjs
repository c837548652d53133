/**
 * What is sampled: episodes in which sampled actions and observed tokens take turns, as data that every side can play.
 * @typedef {{ sample: number, observe: number[] }} Turn
 * @typedef {{ prompt: number[], turns: Turn[] }} Episode
 */

/** Fresh random tokens every time: nothing that was cached before helps. @param {number} vocabulary */
export function tokenStream(vocabulary) {
  let state = 1
  return (/** @type {number} */ length) =>
    Array.from({ length }, () => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0
      return 3 + (state % (vocabulary - 3))
    })
}

/** Sequences of equal length. @returns {Episode[]} */
export function plainSequences(/** @type {number} */ count, /** @type {(length: number) => number[]} */ tokens) {
  return Array.from({ length: count }, () => ({ prompt: tokens(16), turns: [{ sample: 64, observe: [] }] }))
}

/**
 * Episodes of four turns as in the search job, in groups of eight that share their question: sampled actions of 5 to 13
 * tokens, observations of 10 to 40.
 * @returns {Episode[]}
 */
export function searchEpisodes(/** @type {number} */ count, /** @type {(length: number) => number[]} */ tokens) {
  const questions = Array.from({ length: Math.ceil(count / 8) }, () => tokens(16))
  return Array.from({ length: count }, (_, i) => ({
    prompt: questions[i >> 3] ?? [],
    turns: Array.from({ length: 4 }, (_, turn) => ({
      sample: 5 + ((i * 7 + turn * 5) % 9),
      observe: tokens(10 + ((i * 11 + turn * 13) % 31)),
    })),
  }))
}

/** @param {readonly Episode[]} episodes */
export const sampledTokens = (episodes) =>
  episodes.flatMap(({ turns }) => turns).reduce((sum, { sample }) => sum + sample, 0)

/**
 * Every episode at its own pace, in the embedded engine.
 * @param {import('../../dist/core/index.js').Sampler} sampler
 * @param {readonly Episode[]} episodes
 */
export function play(sampler, episodes, greedy = false) {
  return Promise.all(
    episodes.map(async ({ prompt, turns }, i) => {
      let history = prompt
      const actions = []
      for (const { sample, observe } of turns) {
        const params = { maxTokens: sample, temperature: greedy ? 0 : 0.8, seed: i }
        const [sequence] = await sampler.sample({ prompt: history, adapter: null, params })
        const action = [...(sequence?.tokens ?? [])]
        actions.push(action)
        history = [...history, ...action, ...observe]
      }
      return actions
    }),
  )
}
