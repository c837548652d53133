import { type Float, GraphBuilder, gatherRows } from '../graph/index.ts'
import { type InferenceGraphSpec, InferenceTransformer } from './inference-transformer.ts'
import { lastAxis } from './last-axis.ts'
import { ports } from './ports.ts'

export type { InferenceGraphSpec } from './inference-transformer.ts'

/**
 * One step of a decoder over cached keys and values: the same graph extends prompts (many new tokens a sequence) and
 * decodes (one).
 *
 * New tokens lie packed in `tokens` `[tokens]`, whatever sequence they belong to, so that projections waste nothing on
 * padding; only attention sees the grid `[batch, new]`. `pad` `[batch, new]` names the packed token of each cell,
 * `unpad` `[tokens]` the cell of each packed token. A sequence's past lies in `past.*` `[batch, kvHeads, past, headDim]`;
 * `mask` `[batch, 1, new, past + new]` is added to the scores, and `spans` is `[past, new]`. Layers with a window hide
 * what lies beyond it by themselves.
 *
 * Every projection has a low-rank pair as inputs; with pairs of rank 0 the result is the base model's bit for bit.
 *
 * Outputs: the new keys and values `[batch, kvHeads, new, headDim]`; for each of `rows` `[rows]` (packed tokens) the
 * next token's `probabilities` `[rows, vocab]` at that row's `temperature` `[rows, 1]`; and `correction` `[rows, 1]`, c in
 * log p₁ = temperature · log p + c, where p₁ is the probability at temperature 1; and `states` `[rows, hiddenSize]`, what
 * the last block's feed-forward network reads, after its norm: the keys of a datastore (`nearest/`). It is computed anyway,
 * and copied out only where it is fetched.
 */
export function inferenceGraph(spec: InferenceGraphSpec): Uint8Array {
  const graph = new GraphBuilder('inference', spec)
  const model = new InferenceTransformer(graph, spec)
  const rows = graph.input(ports.rows, 'int64', ['rows'])
  const temperature = graph.input(ports.temperature, 'float32', ['rows', 1])

  let hidden = model.embed()
  for (let layer = 0; layer < spec.config.layers; layer++) hidden = model.block(hidden, layer)
  graph.output(ports.states, gatherRows(model.lastWide, rows))
  const logits = model.head(gatherRows(hidden, rows))

  const scaled = graph.node('Div', [logits, temperature], 'float32', logits.shape)
  const scaledFirst = graph.node('Mul', [temperature, firstLogprob(scaled)], 'float32', ['rows', 1])
  graph.output(ports.probabilities, lastAxis('Softmax', scaled))
  // Both log-softmaxes are affine in the logits, so any one column of them yields the constant between the two.
  graph.output(ports.correction, graph.node('Sub', [firstLogprob(logits), scaledFirst], 'float32', ['rows', 1]))
  return graph.build()
}

/** Column 0 of the log-softmax of `[rows, vocab]`. */
function firstLogprob(logits: Float): Float {
  const { graph } = logits
  const [from, to, axis] = [graph.integers([0]), graph.integers([1]), graph.integers([1])]
  return graph.node('Slice', [lastAxis('LogSoftmax', logits), from, to, axis], 'float32', ['rows', 1])
}
