/**
 * How long ONNX Runtime takes to open the graph of a training step (LoRA of rank 16), and how much less it takes because
 * the graph tells the shape of every value between its nodes: beside the same graph without them, interleaved.
 *
 *   npx tsc -b && node bench/opening.mjs [--model 26M] [--rounds 3]
 */
import { parseArgs } from 'node:util'
import { openSession } from '../dist/model/embedded/device/session.js'
import { writeOnnx } from '../dist/model/embedded/onnx/write.js'
import { projections } from '../dist/model/embedded/transformer/weights.js'
import { trainingGraph } from '../dist/model/embedded/transformer/training-graph.js'
import { load, spread } from './figures.mjs'
import { rank, shapes } from './training/work.mjs'

const { values: flags } = parseArgs({
  options: { model: { type: 'string' }, rounds: { type: 'string', default: '3' } },
})
const models = /** @type {(keyof typeof shapes)[]} */ (Object.keys(shapes))

/** Seconds to open a graph. @param {Uint8Array} graph */
async function opening(graph) {
  const began = performance.now()
  const session = await openSession(graph, { threads: 1 })
  const seconds = (performance.now() - began) / 1000
  await session.release()
  return seconds
}

for (const model of models.filter((name) => flags.model === undefined || name === flags.model)) {
  for (const rounded of [false, true]) {
    const trained = /** @type {const} */ ({ kind: 'lora', rank, alpha: 2 * rank, targets: projections })
    const graph = trainingGraph({ config: shapes[model], trained, rounded }).toOnnx()
    const told = writeOnnx(graph)
    const untold = writeOnnx({ ...graph, between: [] })
    // The first one of a process loads code.
    await opening(told)
    const rounds = []
    for (let round = 0; round < Number(flags.rounds); round++) {
      const first = round % 2 === 0 ? null : await opening(untold)
      rounds.push({ told: await opening(told), untold: first ?? (await opening(untold)) })
    }
    const ratios = rounds.map((seconds) => seconds.untold / seconds.told)
    const ours = rounds.map((seconds) => seconds.told)
    console.log(
      `opening ${model} ${rounded ? 'int8' : 'float32'}: ${spread(ratios, 1)}x as fast as without shapes, ${spread(ours)} s for ${graph.nodes.length} nodes, ${load()}`,
    )
  }
}
