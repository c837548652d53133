import { GraphBuilder, type GraphOptions, add, gradients, sum, targetLogprobs } from '../graph/index.ts'
import { fedLoss } from '../loss/index.ts'
import { auxiliaryHead, auxiliaryLosses, auxiliaryPorts, auxiliaryShape } from './auxiliary.ts'
import { InvariantError } from '../../../errors/index.ts'
import { memoryPorts } from '../memory/read-memory.ts'
import type { TransformerConfig } from './config.ts'
import type { Trained } from './trained.ts'
import { treeLayout } from './tree-layout.ts'
import { TrainingTransformer } from './training-transformer.ts'

export interface TrainingGraphSpec extends GraphOptions {
  readonly config: TransformerConfig
  readonly trained: Trained
  /** Outputs of an auxiliary head. Default: there is none. */
  readonly auxiliary?: number
  /** Whether a memory is fed to the layer that reads one (`trained.kind` `memory`): `memory.keys` and `memory.values`. */
  readonly recalls?: boolean
  /** Whether the blocks' projections are in 8 bits: inputs by the names of `roundedPorts`. Default false. */
  readonly rounded?: boolean
}

/** Name of the graph output that holds the gradient of a trained tensor. */
export const gradientOf = (tensor: string): string => `gradient of ${tensor}`

/** Full training: gradient of the embedded tokens, which the caller adds to the embedding's rows. */
export const embeddedGradient = gradientOf('embedded tokens')

/**
 * Forward and backward of a decoder over packed trees of tokens, in one graph.
 *
 * Tokens lie in a grid `[batch, nodes]`; a node is one token with its prefix. Row b of the grid is a block of queries;
 * `keys[b]` lists the nodes (as b · nodes + n) that any of them may attend to, and `mask` `[batch, nodes, keys]` says
 * which. `positions` is a node's depth in its tree. The last block's MLP and the head run at `rows`
 * only: one entry for each target token, several of which may name one node.
 *
 * Inputs: `tokens`, `positions`, `keys`, `mask`, `rows`, `targets`, the loss's number and terms, the rotary tables
 * (`rotary-tables.ts`), and every weight by its name. Outputs: `logprobs` `[rows]`, `loss` (their sum of losses), and a
 * gradient for each trained tensor ({@link gradientOf}). With an auxiliary head (`auxiliary.ts`) the gradients are of both
 * losses, and its own is told apart. All dimensions but the model's are free: one session serves
 * every size.
 */
export function trainingGraph(spec: TrainingGraphSpec): GraphBuilder {
  const { config, trained, auxiliary, recalls = false, rounded = false, ...options } = spec
  const graph = new GraphBuilder(trained.kind, options)
  const { model, embedded, normal, logprobs } = targetsOf(graph, config, trained, { recalls, rounded })
  const perRow = (name: string) => graph.input(name, 'float32', ['rows'])
  const scalar = (name: string) => graph.input(name, 'float32', [])
  const losses = fedLoss(graph.input('lossKind', 'int64', []), {
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
  let total = losses
  if (auxiliary !== undefined) {
    const beside = auxiliaryLosses(graph, normal, auxiliaryShape(config, auxiliary))
    graph.output(auxiliaryPorts.loss, sum(beside.losses))
    wanted.set(auxiliaryHead, beside.head)
    total = add(losses, beside.losses)
  }
  const found = gradients(total, [...wanted.values()])
  for (const [position, name] of [...wanted.keys()].entries()) {
    const gradient = found[position]
    if (gradient) graph.output(gradientOf(name), gradient)
  }
  return graph
}

/** {@link trainingGraph} without a loss and without the way back: its only output is `logprobs`. */
export function forwardGraph({
  config,
  trained,
  recalls = false,
  rounded = false,
  ...options
}: TrainingGraphSpec): GraphBuilder {
  const graph = new GraphBuilder(`${trained.kind} forward`, options)
  graph.output('logprobs', targetsOf(graph, config, trained, { recalls, rounded }).logprobs)
  return graph
}

/**
 * The keys and values of a layer for every cell of the grid, `[batch, nodes, kvHeads · headDim]`, as they enter a memory:
 * keys before their positions turn them. Outputs by the names of `memoryPorts`.
 */
export function memoryGraph({ config, trained, ...options }: TrainingGraphSpec): GraphBuilder {
  if (trained.kind !== 'memory') throw new InvariantError(`${trained.kind} training has no layer with a memory`)
  const { layer } = trained
  const graph = new GraphBuilder(`memory of layer ${layer}`, options)
  const model = new TrainingTransformer(graph, config, trained)
  const tokens = graph.input('tokens', 'int64', ['batch', 'nodes'])
  const layout = treeLayout(graph, config)
  let hidden = model.stream(model.embed(tokens), tokens)
  for (let before = 0; before < layer; before++) hidden = model.block(hidden, before, layout)
  const { keys, values } = model.memorable(hidden, layer)
  graph.output(memoryPorts.keys, keys)
  graph.output(memoryPorts.values, values)
  return graph
}

/** The model over the packed trees, up to the log-probability of each row's target. */
function targetsOf(
  graph: GraphBuilder,
  config: TransformerConfig,
  trained: Trained,
  how: Pick<TrainingGraphSpec, 'recalls' | 'rounded'>,
) {
  const model = new TrainingTransformer(graph, config, trained, how)
  const tokens = graph.input('tokens', 'int64', ['batch', 'nodes'])
  const layout = treeLayout(graph, config)
  const embedded = model.embed(tokens)
  let hidden = model.stream(embedded, tokens)
  for (let layer = 0; layer < config.layers - 1; layer++) hidden = model.block(hidden, layer, layout)
  const picked = model.block(hidden, config.layers - 1, layout, graph.input('rows', 'int64', ['rows']))
  const targets = graph.input('targets', 'int64', ['rows'])
  const normal = model.normal(picked)
  const logprobs = targetLogprobs(model.head(normal), targets, graph.input('inverseTemperature', 'float32', []))
  return { model, embedded, normal, logprobs }
}
