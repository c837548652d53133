import { type InferenceSession, Tensor } from 'onnxruntime-node'
import type { AdamParams } from '../../../core/index.ts'
import { present } from '../../../errors/index.ts'
import { auxiliaryPorts, shapesWithHead } from '../transformer/auxiliary.ts'
import type { MemoryRows } from '../memory/attention-memory.ts'
import { memoryFeeds } from '../memory/memory-feeds.ts'
import { memoryPorts } from '../memory/read-memory.ts'
import type { BaseWeights } from '../transformer/base-weights.ts'
import type { TransformerConfig } from '../transformer/config.ts'
import { turned } from '../transformer/rounded-matrix.ts'
import { roundedPorts } from '../transformer/training-transformer.ts'
import { rotaryTables, ropes, tableNames } from '../transformer/rotary-tables.ts'
import { type Trained, trainedShapes } from '../transformer/trained.ts'
import { embeddedGradient, gradientOf } from '../transformer/training-graph.ts'
import { names, weightShapes } from '../transformer/weights.ts'
import { type AdamState, adamw, newAdamState } from './adamw.ts'
import { type HeldAnchors, addPull, copyOfHeld } from './anchors.ts'
import { lossFeeds, temperatureFeed, tokenFeeds, treeFeeds } from './batch-feeds.ts'
import { clipGradient, gradientNorm } from './clip-gradient.ts'
import { FlatTensors } from './flat-tensors.ts'
import { NonFiniteGradientError } from './non-finite-gradient-error.ts'
import type { PackedBatch } from './packing.ts'
import { keepsShares } from './keeps-shares.ts'
import { PassSessions } from './pass-sessions.ts'
import type { BatchResult, EngineStepResult, LossSettings, ShardState, TrainingShardPort } from './shard.ts'

/** What a shard is made of. Base weights are read, never written, and may be shared with a sampler in this thread. */
export interface TrainingShardSetup {
  readonly model: BaseWeights
  readonly trained: Trained
  /** Initial trained values, flat, in the order of `trainedShapes`; the shard owns the array. */
  readonly values: Float32Array
  /** The model's graphs, which other shards in this thread may run as well. Default: its own. */
  readonly sessions?: PassSessions
}

/** A {@link TrainingShardPort} in this thread. `forwardBackward` blocks it: host shards in workers outside of tests. */
export class TrainingShard implements TrainingShardPort {
  readonly #config: TransformerConfig
  readonly #trained: Trained
  readonly #model: BaseWeights
  readonly #sessions: PassSessions
  #values: FlatTensors
  #weights: Record<string, Tensor>
  #adam: AdamState
  #rotary: { readonly positions: number; readonly feeds: Record<string, Tensor> } | undefined
  #gradient: FlatTensors
  #pending = false
  #squares: Float32Array | null = null
  #held: HeldAnchors | null = null
  #memory: Record<string, Tensor> | null = null

  constructor({ model, trained, values, sessions = new PassSessions(model) }: TrainingShardSetup) {
    const shapes = trainedShapes(model.config, trained)
    this.#config = model.config
    this.#trained = trained
    this.#sessions = sessions
    this.#values = new FlatTensors(shapes, values)
    this.#gradient = new FlatTensors(shapes)
    this.#adam = newAdamState(values.length)
    this.#model = model
    this.#weights = this.#weightTensors()
  }

  async forwardBackward(batch: PackedBatch, loss: LossSettings): Promise<BatchResult> {
    const outputs = await this.#run(batch, loss)
    this.#accumulate(outputs, batch.tokens, this.#gradient)
    this.#pending = true
    const only = (name: string) => floats(outputs, name)[0] as number
    return {
      loss: only('loss'),
      auxiliaryLoss: batch.auxiliary ? only(auxiliaryPorts.loss) : 0,
      logprobs: floats(outputs, 'logprobs').slice(),
    }
  }

  async forward(batch: PackedBatch, temperature: number): Promise<Float32Array> {
    const spec = { pass: 'forward', trained: this.#trained, recalls: this.#memory !== null } as const
    const feeds = { ...this.#inputs(batch), ...temperatureFeed(temperature) }
    return floats(await this.#sessions.run(spec, feeds, cellsOf(batch)), 'logprobs').slice()
  }

  async addSquares(batch: PackedBatch, loss: LossSettings): Promise<void> {
    const outputs = await this.#run(batch, loss)
    const gradient = new FlatTensors(this.#values.shapes)
    this.#accumulate(outputs, batch.tokens, gradient)
    this.#squares ??= new Float32Array(gradient.values.length)
    addSquaresInto(this.#squares, gradient.values)
  }

  async takeSquares(): Promise<Float32Array | null> {
    const squares = this.#squares
    this.#squares = null
    return squares
  }

  async takeGradient(): Promise<Float32Array | null> {
    if (!this.#pending) return null
    const { values, shapes } = this.#gradient
    this.#gradient = new FlatTensors(shapes)
    this.#pending = false
    return values
  }

  async optimStep(
    others: readonly Float32Array[],
    params: AdamParams,
  ): Promise<EngineStepResult & { values: Float32Array }> {
    const gradient = this.#gradient.values
    for (const other of others) addInto(gradient, other)
    const anchored = this.#held?.values.length ?? 0
    const [pulled, from] = [gradient.subarray(0, anchored), this.#values.values.subarray(0, anchored)]
    const anchorPenalty = this.#held === null ? 0 : addPull(pulled, from, this.#held)
    const gradNorm = gradientNorm(gradient)
    if (!Number.isFinite(gradNorm)) {
      this.#clearGradient()
      throw new NonFiniteGradientError(gradNorm)
    }
    if (params.gradClipNorm !== undefined) clipGradient(gradient, gradNorm, params.gradClipNorm)
    adamw(this.#values.values, gradient, this.#adam, params)
    this.#clearGradient()
    return { gradNorm, anchorPenalty, step: this.#adam.step, values: this.#values.values.slice() }
  }

  async setAuxiliary(outputs: number): Promise<void> {
    const shapes = shapesWithHead(this.#config, this.#trained, outputs)
    const kept = new FlatTensors(trainedShapes(this.#config, this.#trained)).values.length
    const resized = (values: Float32Array) => {
      const flat = new FlatTensors(shapes)
      flat.values.set(values.subarray(0, kept))
      return flat
    }
    this.#values = resized(this.#values.values)
    this.#gradient = new FlatTensors(shapes)
    this.#pending = false
    const { m, v, step } = this.#adam
    this.#adam = { m: resized(m).values, v: resized(v).values, step }
    this.#weights = this.#weightTensors()
    await this.#sessions.close(this.#trained)
  }

  async setValues(values: Float32Array): Promise<void> {
    this.#values.values.set(values)
  }

  async state(): Promise<ShardState> {
    const { m, v, step } = this.#adam
    return { values: this.#values.values.slice(), m: m.slice(), v: v.slice(), step }
  }

  async setState({ values, m, v, step }: ShardState): Promise<void> {
    this.#values.values.set(values)
    this.#adam = { m, v, step }
    this.#clearGradient()
  }

  async hold(anchors: HeldAnchors | null): Promise<void> {
    this.#held = anchors
  }

  async held(): Promise<HeldAnchors | null> {
    return this.#held === null ? null : copyOfHeld(this.#held)
  }

  async remember(memory: MemoryRows | null): Promise<void> {
    this.#memory = memory && memory.length > 0 ? memoryFeeds(this.#config, memory) : null
  }

  async collect(batch: PackedBatch): Promise<MemoryRows> {
    const feeds = { ...this.#weights, ...this.#rotaryTables(batch), ...treeFeeds(batch) }
    const outputs = await this.#sessions.run({ pass: 'memory', trained: this.#trained }, feeds, cellsOf(batch))
    return {
      length: batch.tokens.length,
      keys: floats(outputs, memoryPorts.keys).slice(),
      values: floats(outputs, memoryPorts.values).slice(),
    }
  }

  close(): Promise<void> {
    return this.#sessions.close(this.#trained)
  }

  /** Every weight by its name; those that are trained are views of the values. */
  #weightTensors(): Record<string, Tensor> {
    const { config, tensors, rounded } = this.#model
    const { shapes } = this.#values
    const found: Record<string, Tensor> = {}
    for (const [name, shape] of new Map([...weightShapes(config), ...shapes])) {
      const matrix = rounded?.get(name)
      if (matrix) {
        found[roundedPorts.elements(name)] = new Tensor('int8', matrix.elements, shape)
        found[roundedPorts.turned(name)] = new Tensor('int8', turned(matrix), shape.toReversed())
        found[roundedPorts.scales(name)] = new Tensor('float32', matrix.scales, shape.slice(0, 1))
        continue
      }
      const data = shapes.has(name) ? this.#values.view(name) : present(tensors.get(name), `weight ${name}`)
      found[name] = new Tensor('float32', data, shape)
    }
    return found
  }

  #clearGradient(): void {
    this.#gradient.values.fill(0)
    this.#pending = false
  }

  #run(batch: PackedBatch, loss: LossSettings): Promise<InferenceSession.ReturnType> {
    const { auxiliary } = batch
    const spec = {
      pass: 'loss',
      trained: this.#trained,
      recalls: this.#memory !== null,
      keepsShares: keepsShares(this.#config, batch.shape),
      ...(auxiliary && { auxiliary: auxiliary.targets.length / auxiliary.weights.length }),
    } as const
    return this.#sessions.run(spec, { ...this.#inputs(batch), ...lossFeeds(batch, loss) }, cellsOf(batch))
  }

  /** What every pass over targets reads: the weights, the laid-out tokens, and what is remembered. */
  #inputs(batch: PackedBatch): Record<string, Tensor> {
    return { ...this.#weights, ...this.#memory, ...this.#rotaryTables(batch), ...tokenFeeds(batch) }
  }

  /** Tables with a row for every position, and for every column of the grid, as the operator wants. */
  #rotaryTables({ depth, shape: { nodes } }: PackedBatch): Record<string, Tensor> {
    const needed = Math.max(depth, nodes)
    const made = this.#rotary?.positions ?? 0
    if (this.#rotary !== undefined && made >= needed) return this.#rotary.feeds
    const positions = Math.max(needed, 2 * made, 256)
    const { headDim } = this.#config
    const dims = [positions, headDim / 2]
    const feeds = [...ropes(this.#config)].flatMap(([name, rope]) => {
      const { cos, sin } = rotaryTables(positions, headDim, rope)
      const table = tableNames[name]
      return [
        [table.cos, new Tensor('float32', cos, dims)],
        [table.sin, new Tensor('float32', sin, dims)],
      ]
    })
    this.#rotary = { positions, feeds: Object.fromEntries(feeds) }
    return this.#rotary.feeds
  }

  /** Adds the gradient that a run gave to `sum`. */
  #accumulate(outputs: InferenceSession.ReturnType, tokens: BigInt64Array, sum: FlatTensors): void {
    for (const name of sum.shapes.keys()) {
      if (gradientOf(name) in outputs) addInto(sum.view(name), floats(outputs, gradientOf(name)))
    }
    if (this.#trained.kind === 'full') {
      addRows(sum.view(names.embedding), tokens, floats(outputs, embeddedGradient), this.#config.hiddenSize)
    }
  }
}

const cellsOf = ({ shape: { batch, nodes } }: PackedBatch): number => batch * nodes

function floats(outputs: InferenceSession.ReturnType, name: string): Float32Array {
  return present(outputs[name], `output ${name}`).data as Float32Array
}

function addInto(sum: Float32Array, addend: Float32Array): void {
  for (let i = 0; i < sum.length; i++) sum[i] = (sum[i] as number) + (addend[i] as number)
}

function addSquaresInto(sum: Float32Array, addend: Float32Array): void {
  for (let i = 0; i < sum.length; i++) sum[i] = (sum[i] as number) + (addend[i] as number) ** 2
}

/** Adds row i of `rows` to row `indices[i]` of the table: the embedding's gradient. */
function addRows(table: Float32Array, indices: BigInt64Array, rows: Float32Array, width: number): void {
  for (let i = 0; i < indices.length; i++) {
    const begin = Number(indices[i]) * width
    addInto(table.subarray(begin, begin + width), rows.subarray(i * width, (i + 1) * width))
  }
}
