// Environment steps per second with 10,000 open episodes, one thread. Build first; --expose-gc adds memory per episode:
//   npm run build && node --expose-gc bench/environment.mjs
import { loadMdn, mdn } from '../dist/environment/search/index.js'

const openEpisodes = 10_000
const seconds = 3

const loading = performance.now()
const { environment, tasks } = loadMdn({ wordings: 'few' })
const loadMs = performance.now() - loading
const pool = [...tasks.train, ...tasks.validation, ...tasks.holdout].map((task) => ({ task, script: scriptOf(task) }))

/** What the scripted expert does, prepared beforehand so that only the environment is timed. */
function scriptOf(task) {
  const question = mdn.questionOf(task)
  const act = (name, argument) => ({ kind: 'calls', calls: [{ name, arguments: argument }] })
  const reads = question.titles.flatMap((title) => [act('search', { query: title }), act('open', { title })])
  return [...reads, act('answer', { text: task.data.accepted[0] })]
}

let opened = 0
function openNext() {
  const { task, script } = pool[opened % pool.length]
  return { episode: environment.open(task, opened++), script, at: 0 }
}

globalThis.gc?.()
const heapBefore = process.memoryUsage().heapUsed
const slots = Array.from({ length: openEpisodes }, openNext)
// Half way through, so that what an episode remembers of its searches is counted.
for (const slot of slots) slot.episode.step(slot.script[slot.at++])
globalThis.gc?.()
const bytesPerEpisode = (process.memoryUsage().heapUsed - heapBefore) / openEpisodes

const steps = { search: 0, open: 0, answer: 0 }
let errors = 0
const started = performance.now()
let elapsed = 0
while (elapsed < seconds * 1000) {
  for (let i = 0; i < slots.length; i++) {
    const slot = slots[i]
    const action = slot.script[slot.at++]
    const outcome = slot.episode.step(action)
    steps[action.calls[0].name]++
    if (outcome.messages[0].isError) errors++
    if (outcome.done) {
      slot.episode.close()
      slots[i] = openNext()
    }
  }
  elapsed = performance.now() - started
}

const total = steps.search + steps.open + steps.answer
console.log(
  JSON.stringify({
    bench: 'environment',
    openEpisodes,
    stepsPerSecond: Math.round((total / elapsed) * 1000),
    target: 50_000,
    steps,
    errors,
    loadMs: Math.round(loadMs),
    bytesPerOpenEpisode: globalThis.gc === undefined ? null : Math.round(bytesPerEpisode),
  }),
)
