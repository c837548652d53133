import type { InferenceSession } from 'onnxruntime-node'
import { type Device, graphOptions } from '../device/device.ts'
import { type Session, openSession } from '../device/session.ts'
import type { GraphBuilder } from '../graph/index.ts'
import type { TransformerConfig } from '../transformer/config.ts'
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
  readonly config: TransformerConfig
  /** Whether the blocks' projections are in 8 bits. */
  readonly rounded: boolean
  readonly device: Device
  /** ONNX Runtime threads inside one operator. */
  readonly threads: number
}

/** Graphs that hold at least so much are worth opening again, which takes seconds. */
const large = 2 * 2 ** 30

/**
 * The graphs that training runs in one thread, opened when first run. A graph keeps the memory of its largest run, so all
 * shards of a thread share them: weights are fed, and a graph holds none.
 */
export class PassSessions {
  readonly #options: PassSessionsOptions
  readonly #open = new Map<string, Promise<Session>>()
  #largest = 0

  constructor(options: PassSessionsOptions) {
    this.#options = options
  }

  /** Graphs that are open. */
  get count(): number {
    return this.#open.size
  }

  /** @param tokens that the run computes. */
  async run(spec: PassSpec, feeds: InferenceSession.FeedsType, tokens: number): Promise<InferenceSession.ReturnType> {
    const session = await this.#session(spec)
    this.took(tokens * bytesPerToken(this.#options.config))
    return session.run(feeds)
  }

  /** Bytes that a run took, about. */
  took(bytes: number): void {
    this.#largest = Math.max(this.#largest, bytes)
  }

  /** Gives back the memory of large runs; the next run takes it again. Only between runs. */
  async rest(): Promise<void> {
    if (this.#largest >= large) await this.close()
  }

  /** Gives all memory back. */
  async close(): Promise<void> {
    const sessions = [...this.#open.values()]
    this.#open.clear()
    this.#largest = 0
    for (const session of sessions) await (await session).release()
  }

  #session(spec: PassSpec): Promise<Session> {
    const key = JSON.stringify([spec.pass, spec.trained, spec.auxiliary, spec.recalls, spec.keepsShares])
    const known = this.#open.get(key)
    if (known) return known
    const { config, rounded, device, threads } = this.#options
    const { pass, ...variant } = spec
    const graph = graphs[pass]({ config, rounded, ...variant, ...graphOptions(device) })
    const session = openSession(graph.build(), { device, threads })
    this.#open.set(key, session)
    return session
  }
}

/** About what one token takes: activations kept for the way back, and three rows of logits. */
function bytesPerToken({ layers, hiddenSize, intermediateSize, vocabSize }: TransformerConfig): number {
  return 4 * (layers * (8 * hiddenSize + 5 * intermediateSize) + 3 * vocabSize)
}
