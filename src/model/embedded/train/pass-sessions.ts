import type { InferenceSession } from 'onnxruntime-node'
import { type Device, graphOptions } from '../device/device.ts'
import { type Session, openSession } from '../device/session.ts'
import type { GraphBuilder } from '../graph/index.ts'
import type { BaseWeights } from '../transformer/base-weights.ts'
import type { TransformerConfig } from '../transformer/config.ts'
import type { Trained } from '../transformer/trained.ts'
import { type TrainingGraphSpec, forwardGraph, memoryGraph, trainingGraph } from '../transformer/training-graph.ts'

/** What a graph is run for: a loss with its gradient, log-probabilities alone, or what a memory keeps. */
export type Pass = 'loss' | 'forward' | 'memory'

const graphs: Readonly<Record<Pass, (spec: TrainingGraphSpec) => GraphBuilder>> = {
  loss: trainingGraph,
  forward: forwardGraph,
  memory: memoryGraph,
}

/** What tells the graphs of one model apart. */
export interface PassSpec extends Pick<TrainingGraphSpec, 'trained' | 'auxiliary' | 'recalls' | 'keepsShares'> {
  readonly pass: Pass
}

export interface PassSessionsOptions {
  /** ONNX Runtime threads inside one operator; 1 keeps a run repeatable bit for bit. Default 1. */
  readonly threads?: number
  /** Default `cpu`. */
  readonly device?: Device
  /** Bytes from which on {@link PassSessions.giveBackMemory} does it. Default 2 GiB: opening such graphs again takes seconds. */
  readonly large?: number
}

interface OpenGraph {
  readonly trained: Trained
  readonly session: Promise<Session>
  /** Of its largest run, about. */
  bytes: number
}

/**
 * The graphs that training runs in one thread, opened when first run. A graph keeps the memory of its largest run, so the
 * shards of a thread share those of equal settings: weights are fed, and a graph holds none. Runs and calls that close graphs
 * must come one after another.
 */
export class PassSessions {
  readonly #config: TransformerConfig
  readonly #rounded: boolean
  readonly #options: Required<PassSessionsOptions>
  readonly #open = new Map<string, OpenGraph>()

  constructor(
    { config, rounded }: Pick<BaseWeights, 'config' | 'rounded'>,
    { threads = 1, device = 'cpu', large = 2 * 2 ** 30 }: PassSessionsOptions = {},
  ) {
    this.#config = config
    this.#rounded = rounded !== undefined
    this.#options = { threads, device, large }
  }

  /** Graphs that are open. */
  get count(): number {
    return this.#open.size
  }

  /** @param tokens that the run computes. */
  async run(spec: PassSpec, feeds: InferenceSession.FeedsType, tokens: number): Promise<InferenceSession.ReturnType> {
    const graph = this.#graph(spec)
    graph.bytes = Math.max(graph.bytes, tokens * bytesPerToken(this.#config, spec.pass))
    const session = await graph.session
    return session.run(feeds)
  }

  /**
   * Closes all graphs where together they hold much; the next run opens its own again. On the processor alone: on other devices
   * each opening is looked at anew.
   */
  async giveBackMemory(): Promise<void> {
    const held = [...this.#open.values()].reduce((sum, { bytes }) => sum + bytes, 0)
    if (this.#options.device === 'cpu' && held >= this.#options.large) await this.#close(() => true)
  }

  /** Closes the graphs that train this; who still trains the like opens them again. */
  close(trained: Trained): Promise<void> {
    const closed = JSON.stringify(trained)
    return this.#close((graph) => JSON.stringify(graph.trained) === closed)
  }

  async #close(which: (graph: OpenGraph) => boolean): Promise<void> {
    const closing = [...this.#open].filter(([, graph]) => which(graph))
    for (const [key] of closing) this.#open.delete(key)
    for (const [, { session }] of closing) await (await session).release()
  }

  #graph(spec: PassSpec): OpenGraph {
    const { pass, trained, auxiliary, recalls, keepsShares } = spec
    const key = JSON.stringify([pass, trained, auxiliary, recalls, keepsShares])
    const known = this.#open.get(key)
    if (known) return known
    const graph = { trained, session: this.#opened(spec), bytes: 0 }
    this.#open.set(key, graph)
    // What could not be opened is tried again.
    graph.session.catch(() => this.#open.delete(key))
    return graph
  }

  #opened({ pass, ...variant }: PassSpec): Promise<Session> {
    const { threads, device } = this.#options
    const graph = graphs[pass]({
      config: this.#config,
      rounded: this.#rounded,
      ...variant,
      ...graphOptions(device),
    })
    return openSession(graph.build(), { device, threads })
  }
}

/** About what one token takes: activations, of every layer where there is a way back, and rows of logits. */
function bytesPerToken({ layers, hiddenSize, intermediateSize, vocabSize }: TransformerConfig, pass: Pass): number {
  const layer = 8 * hiddenSize + 5 * intermediateSize
  return 4 * (pass === 'loss' ? layers * layer + 3 * vocabSize : layer + vocabSize)
}
