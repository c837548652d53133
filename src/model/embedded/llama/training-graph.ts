import { present } from '../../../errors/index.ts'
import {
  type Float,
  GraphBuilder,
  type GraphOptions,
  type Integer,
  add,
  attention,
  flattenRows,
  gatherRows,
  gradients,
  linear,
  rmsNorm,
  rotary,
  sum,
  swiglu,
  targetLogprobs,
} from '../graph/index.ts'
import { type LossKind, tokenLosses } from '../loss/index.ts'
import { type LoraConfig, type LoraTarget, loraPair, loraShapes } from '../train/lora.ts'
import type { LlamaConfig } from './config.ts'
import { type Projection, names, projectionShape, weightShapes } from './weights.ts'

/** What is trained: an adapter over frozen weights, or all weights. */
export type Trained = ({ readonly kind: 'lora' } & LoraConfig) | { readonly kind: 'full' }

export interface TrainingGraphSpec extends GraphOptions {
  readonly config: LlamaConfig
  readonly trained: Trained
  readonly loss: LossKind
}

/** Name of the graph output that holds the gradient of a trained tensor. */
export const gradientOf = (tensor: string): string => `gradient of ${tensor}`

/** Full training: gradient of the embedded tokens, which the caller adds to the embedding's rows. */
export const embeddedGradient = gradientOf('embedded tokens')

/** Names and shapes of the tensors that training changes. */
export function trainedShapes(config: LlamaConfig, trained: Trained): Map<string, readonly number[]> {
  return trained.kind === 'lora' ? loraShapes(config, trained) : weightShapes(config)
}

/**
 * Forward and backward of a Llama over packed trees of tokens, in one graph.
 *
 * Tokens lie in a grid `[batch, nodes]`; a node is one token with its prefix. Row b of the grid is a block of queries;
 * `keys[b]` lists the nodes (as b · nodes + n) that any of them may attend to, and `mask` `[batch, nodes, keys]` says
 * which. `positions` is a node's depth in its tree. The last block's MLP and the head run at `rows`
 * only: one entry for each target token, several of which may name one node.
 *
 * Inputs: `tokens`, `positions`, `keys`, `mask`, `rows`, `targets`, the loss's terms, the rotary tables `cos` and
 * `sin`, and every weight by its name. Outputs: `logprobs` `[rows]`, `loss` (their sum of losses), and a gradient for
 * each trained tensor ({@link gradientOf}). All dimensions but the model's are free: one session serves every size.
 */
export function trainingGraph({ config, trained, loss, ...options }: TrainingGraphSpec): GraphBuilder {
  const graph = new GraphBuilder(`${trained.kind} ${loss}`, options)
  const { model, embedded, logprobs } = targetsOf(graph, config, trained)
  const perRow = (name: string) => graph.input(name, 'float32', ['rows'])
  const scalar = (name: string) => graph.input(name, 'float32', [])
  const losses = tokenLosses[loss]({
    logprobs,
    weights: perRow('weights'),
    oldLogprobs: perRow('oldLogprobs'),
    advantages: perRow('advantages'),
    clipLow: scalar('clipLow'),
    clipHigh: scalar('clipHigh'),
  })
  graph.output('logprobs', logprobs)
  graph.output('loss', sum(losses))

  const wanted = new Map(model.trained)
  if (trained.kind === 'full') wanted.set('embedded tokens', embedded)
  const found = gradients(losses, [...wanted.values()])
  for (const [position, name] of [...wanted.keys()].entries()) {
    const gradient = found[position]
    if (gradient) graph.output(gradientOf(name), gradient)
  }
  return graph
}

/** {@link trainingGraph} without a loss and without the way back: its only output is `logprobs`. */
export function forwardGraph({ config, trained, ...options }: Omit<TrainingGraphSpec, 'loss'>): GraphBuilder {
  const graph = new GraphBuilder(`${trained.kind} forward`, options)
  graph.output('logprobs', targetsOf(graph, config, trained).logprobs)
  return graph
}

/** The model over the packed trees, up to the log-probability of each row's target. */
function targetsOf(graph: GraphBuilder, config: LlamaConfig, trained: Trained) {
  const model = new TrainingLlama(graph, config, trained)
  const tokens = graph.input('tokens', 'int64', ['batch', 'nodes'])
  const layout: TreeLayout = {
    positions: graph.input('positions', 'int64', ['batch', 'nodes']),
    keys: graph.input('keys', 'int64', ['batch', 'keys']),
    mask: graph.input('mask', 'float32', ['batch', 'nodes', 'keys']),
    cos: graph.input('cos', 'float32', ['positions', config.headDim / 2]),
    sin: graph.input('sin', 'float32', ['positions', config.headDim / 2]),
  }
  const embedded = model.embed(tokens)
  let hidden = embedded
  for (let layer = 0; layer < config.layers - 1; layer++) hidden = model.block(hidden, layer, layout)
  const picked = model.block(hidden, config.layers - 1, layout, graph.input('rows', 'int64', ['rows']))
  const targets = graph.input('targets', 'int64', ['rows'])
  const logprobs = targetLogprobs(model.head(picked), targets, graph.input('inverseTemperature', 'float32', []))
  return { model, embedded, logprobs }
}

interface TreeLayout {
  readonly positions: Integer
  readonly keys: Integer
  readonly mask: Float
  readonly cos: Float
  readonly sin: Float
}

/** The model's parts as graph functions; every weight is declared as an input when it is first read. */
class TrainingLlama {
  /** Trained tensors by name. */
  readonly trained = new Map<string, Float>()
  readonly #graph: GraphBuilder
  readonly #config: LlamaConfig
  readonly #trained: Trained
  readonly #weights = new Map<string, Float>()

  constructor(graph: GraphBuilder, config: LlamaConfig, trained: Trained) {
    this.#graph = graph
    this.#config = config
    this.#trained = trained
    const trainable = trainedShapes(config, trained)
    for (const [name, shape] of new Map([...weightShapes(config), ...trainable])) {
      const value = graph.input(name, 'float32', shape)
      this.#weights.set(name, value)
      if (trainable.has(name)) this.trained.set(name, value)
    }
  }

  /** The embedding's rows, as a constant of the graph: their gradient is scattered outside, in plain loops. */
  embed(tokens: Integer): Float {
    const shape = ['batch', 'nodes', this.#config.hiddenSize]
    return this.#graph.node('Gather', [this.#weight(names.embedding), tokens], 'float32', shape)
  }

  /** One decoder block. With `rows` the result is those rows only, and what follows attention runs on them alone. */
  block(hidden: Float, layer: number, layout: TreeLayout, rows?: Integer): Float {
    const { rmsNormEps } = this.#config
    const project = (x: Float, projection: Projection) => this.#project(x, layer, projection)

    const normal = rmsNorm(hidden, this.#weight(names.inputNorm(layer)), rmsNormEps)
    const query = rotary(project(normal, 'q'), layout.positions, layout)
    const key = rotary(project(normal, 'k'), layout.positions, layout)
    const visible = (x: Float) => gatherRows(flattenRows(x), layout.keys)
    const mixed = attention(query, visible(key), visible(project(normal, 'v')), layout.mask, this.#config)
    const picked = (x: Float) => (rows === undefined ? x : gatherRows(flattenRows(x), rows))
    const attended = add(picked(hidden), project(picked(mixed), 'o'))

    const wide = rmsNorm(attended, this.#weight(names.postAttentionNorm(layer)), rmsNormEps)
    return add(attended, project(swiglu(project(wide, 'gate'), project(wide, 'up')), 'down'))
  }

  /** Logits `[rows, vocab]`. */
  head(hidden: Float): Float {
    const { tiedHead, vocabSize, hiddenSize, rmsNormEps } = this.#config
    const normal = rmsNorm(hidden, this.#weight(names.finalNorm), rmsNormEps)
    const weight = this.#weight(tiedHead ? names.embedding : names.head)
    return this.#adapted(normal, weight, names.head, [vocabSize, hiddenSize], 'lm_head')
  }

  #project(x: Float, layer: number, projection: Projection): Float {
    const name = names.projection(layer, projection)
    return this.#adapted(x, this.#weight(name), name, projectionShape(this.#config, projection), projection)
  }

  #adapted(x: Float, weight: Float, name: string, shape: readonly [number, number], target: LoraTarget): Float {
    const base = linear(x, weight)
    const lora = this.#trained
    if (lora.kind === 'full' || !lora.targets.includes(target)) return base
    const { a, b } = loraPair(name, shape, lora.rank)
    return add(base, linear(linear(x, this.#weight(a)), this.#weight(b), lora.alpha / lora.rank))
  }

  #weight(name: string): Float {
    return present(this.#weights.get(name), `weight ${name}`)
  }
}
