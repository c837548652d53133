/** Models of random weights, batches, and how much work a batch is. */
import { projectionShape, projections, weightShapes } from '../../dist/model/embedded/transformer/weights.js'

const common = { ropeTheta: 1e6, rmsNormEps: 1e-5, maxPositions: 2048, tiedHead: true, headDim: 64 }
export const shapes = {
  '4M': { vocabSize: 4096, hiddenSize: 256, intermediateSize: 704, layers: 4, heads: 4, kvHeads: 2, ...common },
  // MiniMind2-Small.
  '26M': { vocabSize: 6400, hiddenSize: 512, intermediateSize: 1408, layers: 8, heads: 8, kvHeads: 2, ...common },
  // SmolLM2-135M.
  '135M': { vocabSize: 49152, hiddenSize: 576, intermediateSize: 1536, layers: 30, heads: 9, kvHeads: 3, ...common },
}
export const prompt = 300
export const actions = 100
export const sequences = 8
export const rank = 16

/** A fixed stream of numbers in [0, 1). */
function stream() {
  let state = 1
  return () => (state = (state * 1664525 + 1013904223) % 2 ** 32) / 2 ** 32
}

/** @param {keyof typeof shapes} name */
export function randomModel(name) {
  const config = shapes[name]
  const random = stream()
  const tensors = [...weightShapes(config)].map(([tensor, shape]) => {
    const length = shape.reduce((product, size) => product * size, 1)
    const fill = () => (shape.length === 1 ? 1 : (random() - 0.5) * 0.07)
    return /** @type {const} */ ([tensor, Float32Array.from({ length }, fill)])
  })
  return { config, tensors: new Map(tensors) }
}

/**
 * One group. `shared`: all sequences begin with one prompt; else every prompt is another, and packing finds nothing.
 * @param {number} vocabulary @param {boolean} shared
 */
export function group(vocabulary, shared) {
  const random = stream()
  const tokens = (/** @type {number} */ count) => Array.from({ length: count }, () => Math.floor(random() * vocabulary))
  const first = tokens(prompt)
  const likely = -Math.log(vocabulary)
  return Array.from({ length: sequences }, () => {
    const input = [...(shared ? first : tokens(prompt)), ...tokens(actions)]
    const sampled = (/** @type {number} */ value) => input.map((_, position) => (position < prompt ? 0 : value))
    return { input, target: [...input.slice(1), 2], logprobs: sampled(likely), advantages: sampled(1) }
  })
}

/**
 * Multiplications and additions of a step's matrix products, the least that the result needs: forwards once, backwards
 * once for what flows to the tokens and, where weights are trained, once for them. What is computed twice to save memory
 * does not count, nor does half of attention's square that no token sees.
 * @param {typeof shapes['4M']} config
 * @param {'lora' | 'full'} kind
 * @param {{ tokens: number, rows: number, pairs: number }} work tokens computed, positions with a loss, pairs of a query
 * and a key that it sees
 */
export function stepFlops(config, kind, { tokens, rows, pairs }) {
  let [weights, added] = [0, 0]
  for (const projection of projections) {
    const [output, input] = projectionShape(config, projection)
    weights += output * input
    added += rank * (output + input)
  }
  const { layers, heads, headDim, vocabSize, hiddenSize } = config
  const trained = kind === 'full' ? 6 : 4
  const blocks = trained * tokens * layers * weights + (kind === 'lora' ? 6 * tokens * layers * added : 0)
  const head = trained * rows * vocabSize * hiddenSize
  // Scores and their use, forwards; backwards each gives two products.
  const attention = 3 * 2 * 2 * pairs * layers * heads * headDim
  return blocks + head + attention
}

/** The work of the group above, packed as a tree or not. @param {boolean} packed */
export function workOf(packed) {
  const triangle = (/** @type {number} */ n) => (n * (n + 1)) / 2
  const prompts = packed ? 1 : sequences
  return {
    tokens: prompts * prompt + sequences * actions,
    rows: sequences * actions,
    pairs: prompts * triangle(prompt) + sequences * (triangle(prompt + actions) - triangle(prompt)),
  }
}
