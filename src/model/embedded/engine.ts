import { z } from 'zod'
import type { AdapterRef, Precision, PrecisionChoice, Sampler, Trainer, TrainingMethod } from '../../core/index.ts'
import { InputError } from '../../errors/index.ts'
import { chosenPrecision } from './device/chosen-precision.ts'
import type { Device } from './device/device.ts'
import { DeviceNotDeterministicError } from './device/device-not-deterministic-error.ts'
import { PrecisionUnavailableError } from './device/precision-unavailable-error.ts'
import { bytesOfWeights, inPrecision } from './transformer/base-weights.ts'
import type { TransformerConfig, ModelWeights } from './transformer/config.ts'
import type { Trained } from './transformer/trained.ts'
import { names, projections } from './transformer/weights.ts'
import { GrammarTrial } from './grammar/trial.ts'
import { type AttentionMemory, expectOrigin } from './memory/attention-memory.ts'
import { readMemoryAdapter } from './memory/memory-adapter.ts'
import { type MemoryConfig, checkedMemory } from './memory/memory-config.ts'
import { originsOf } from './memory/memory-origin.ts'
import { MemoryTrainer } from './memory/memory-trainer.ts'
import { readSafetensors } from './load/safetensors.ts'
import { byteLevelSpelling } from './load/token-bytes.ts'
import { Datastores, type EngineDatastores } from './nearest/datastores.ts'
import { EmbeddedSampler } from './sampling/embedded-sampler.ts'
import { References } from './sampling/references.ts'
import type { Decode } from './sampling/stop-strings.ts'
import { UnknownAdapterError } from './sampling/unknown-adapter-error.ts'
import { type AdapterContent, adapterContent } from './train/adapter-content.ts'
import { readAdapter } from './train/adapter-file.ts'
import { EmbeddedTrainer } from './train/embedded-trainer.ts'
import { type Beginning, initialValues } from './train/initial-values.ts'
import { InvalidSoftPromptError } from './train/invalid-soft-prompt-error.ts'
import { LoraConfig } from './train/lora.ts'
import { holdsSoftPrompt, readSoftPrompt } from './train/soft-prompt-file.ts'
import { StateMismatchError } from './train/state-mismatch-error.ts'
import { readTrainedWeights } from './train/trained-weights.ts'
import { parallelism } from './worker/parallelism.ts'
import { WorkerPool } from './worker/pool.ts'

/** Which model, and how much of the machine it gets. */
export interface EmbeddedEngineOptions {
  readonly model: ModelWeights
  /** How reports call the model. Default `embedded`. */
  readonly name?: string
  /** The tokenizer's decoding, for stop strings. */
  readonly decode: Decode
  /**
   * What multiplies the matrices. Default `cpu`. A device that cannot be used is an error, and so is one that leaves
   * matrix products to the processor: nothing falls back silently.
   */
  readonly device?: Device
  /**
   * What the base's projections are multiplied in. Default `float32`. `int8` is faster and takes less memory, on processors
   * with instructions for it. Log-probabilities differ a little from those in float32; sampling and training have the same
   * rounded weights, over which adapters learn. Only on `cpu`, and not for training all weights or a memory.
   */
  readonly precision?: PrecisionChoice
  /**
   * What each token adds to a text, for grammars: every id below the model's, `null` for those that are no text. Asked for
   * with the first grammar. Without it, grammars are refused.
   */
  readonly vocabulary?: () => readonly (Uint8Array | null)[]
  /** Worker threads, each with its own copy of the weights. Default: one a core, at most 4; one for models ≥ 300 MB, and one on another device. */
  readonly workers?: number
  /** ONNX Runtime threads in each worker. Default: the cores divided by the workers. */
  readonly threadsPerWorker?: number
  /**
   * One worker with one thread, and results that do not depend on what runs beside them: equal requests give equal
   * bits (invariant 12). Costs about a third of the throughput. Default false.
   */
  readonly deterministic?: boolean
  /** Longest prompt plus continuation, in tokens. Default: the model's, at most 8,192. */
  readonly contextLength?: number
  /**
   * Bytes of keys and values in each worker: of the sequences that decode, and of what is kept for later prompts. Sequences
   * wait when they might not fit; only the oldest one of an adapter may exceed it. Default 512 MiB.
   */
  readonly cacheBytes?: number
}

/** A model served and trained in this process: ONNX Runtime in worker threads. */
export interface EmbeddedEngine {
  readonly sampler: Sampler
  /** What the base's projections are multiplied in. */
  readonly precision: Precision
  /**
   * A trainer that starts from the base model; its `publish` makes a reference in {@link EmbeddedEngine.sampler}.
   * @throws InputError when rank, alpha, targets, or a soft prompt's length or tokens are not usable.
   */
  trainer(options: { readonly method: TrainingMethod; readonly seed: number }): Promise<Trainer>
  /** Loads what a trainer's `saveWeights` returned. @throws StateMismatchError when it is of another model. */
  loadAdapter(weights: Uint8Array): Promise<AdapterRef>
  /**
   * A trainer of how one layer reads a memory. It is no `Trainer` of the loop: its calls name a memory.
   * @throws InvalidAttentionMemoryError when the model has no such layer, or a setting is out of range.
   */
  memoryTrainer(options: {
    readonly memory: MemoryConfig
    readonly seed: number
    /** How open the gates are at first: the part of what a head gives that comes from the memory, in (0, 1). Default 0.05. */
    readonly gate?: number
  }): Promise<MemoryTrainer>
  /**
   * Loads what a memory trainer's `saveWeights` returned together with a memory: requests with this reference recall from it.
   * Later changes of the memory do not reach it; load it again, and unload the old one.
   * @throws StateMismatchError when weights or memory are of another model or layer.
   */
  loadMemory(weights: Uint8Array, memory: AttentionMemory): Promise<AdapterRef>
  /** Datastores of text, whose next tokens the sampler can mix in: `SamplingParams.nearest`. */
  readonly datastores: EngineDatastores
  /** Ends the workers; what is under way is rejected with EngineClosedError. */
  close(): Promise<void>
}

/**
 * Starts the workers and loads the model into them.
 * @throws DeviceUnavailableError when the device cannot be used on this machine.
 * @throws DeviceNotDeterministicError when equal bits are asked of another device than the CPU.
 * @throws PrecisionUnavailableError when 8 bits are asked of a device or a processor that cannot multiply them.
 */
export async function openEmbeddedEngine(options: EmbeddedEngineOptions): Promise<EmbeddedEngine> {
  const {
    model,
    decode,
    name = 'embedded',
    deterministic = false,
    cacheBytes = 512 * 2 ** 20,
    device = 'cpu',
  } = options
  if (deterministic && device !== 'cpu') throw new DeviceNotDeterministicError(device)
  const precision = await chosenPrecision(options.precision ?? 'float32', device)
  if (precision === 'int8' && device !== 'cpu')
    throw new PrecisionUnavailableError(`the device "${device}" has no products of 8 bits`)
  const { config } = model
  const contextLength = Math.min(options.contextLength ?? 8192, config.maxPositions)
  const base = inPrecision(model, precision)
  const { workers, threads } = parallelism({ ...options, bytes: bytesOfWeights(base) })
  const pool = await WorkerPool.open(workers, {
    model: base,
    contextLength,
    threads,
    device,
    deterministic,
    cacheBytes,
  })
  const capabilities = {
    model: name,
    vocabularySize: config.vocabSize,
    contextLength,
    deterministic,
    ...(precision === 'int8' && { agreement: roundedAgreement }),
  }
  const { hiddenSize, vocabSize: vocabularySize } = config
  const adapters = new References<readonly number[]>((id) => new UnknownAdapterError(id))
  const datastores = new Datastores(pool, adapters, { vocabularySize, contextLength, hiddenSize })
  const grammars = options.vocabulary ? grammarsFor(options.vocabulary, vocabularySize) : null
  const origins = originsOf(model)
  const sampler = new EmbeddedSampler(pool, capabilities, decode, { adapters, datastores, grammars })
  const openTrainer = async (trained: Trained, beginning: Beginning) => {
    if (trained.kind === 'full' || trained.kind === 'memory') expectFloats(precision)
    const shards = await pool.openTrainer(trained, initialValues(model, trained, beginning))
    return new EmbeddedTrainer({ config, trained, shards, publish: (content) => sampler.load(content) })
  }
  return {
    sampler,
    precision,
    datastores,
    loadAdapter: async (weights) => sampler.load(readContent(config, weights, contextLength)),
    async trainer({ method, seed }) {
      const trained = trainedOf(method, contextLength)
      const tokens = method.kind === 'prompt' ? initialTokens(method, config) : []
      return openTrainer(trained, { seed, tokens })
    },
    async memoryTrainer({ memory, seed, gate }) {
      const trained = { kind: 'memory', ...checkedMemory(config, memory) } as const
      const trainer = await openTrainer(trained, { seed, ...(gate !== undefined && { gate }) })
      return new MemoryTrainer({ config, origin: origins(memory.layer), trainer })
    },
    async loadMemory(weights, memory) {
      expectFloats(precision)
      const adapter = readMemoryAdapter(config, weights)
      expectOrigin(memory.origin, origins(adapter.layer))
      return sampler.load({ kind: 'memory', adapter, memory: memory.rows() })
    },
    async close() {
      await Promise.all([pool.close(), grammars?.trial.close()])
    },
  }
}

function grammarsFor(bytes: () => readonly (Uint8Array | null)[], size: number) {
  let spelled: readonly string[] | undefined
  const vocabulary = () => {
    if (spelled) return spelled
    const known = bytes()
    // Rows of the embedding that are no tokens are never allowed.
    spelled = Array.from({ length: size }, (_, token) => byteLevelSpelling(known[token] ?? new Uint8Array(0)))
    return spelled
  }
  return { vocabulary, trial: new GrammarTrial({ vocabulary }) }
}

/**
 * How far log-probabilities of sampling and training may be apart with rounded factors, in nats: a difference in the last bit of
 * a float can round it to another byte, and so on from layer to layer.
 */
const roundedAgreement = 0.05

/** @throws PrecisionUnavailableError where all weights or a memory are asked of an engine whose projections are in 8 bits. */
function expectFloats(precision: Precision): void {
  if (precision !== 'float32')
    throw new PrecisionUnavailableError('all weights, and memories, are trained and served in float32 only')
}

function trainedOf(method: TrainingMethod, contextLength: number): Trained {
  if (method.kind === 'full') return method
  if (method.kind === 'prompt') {
    const { length } = method
    if (Number.isInteger(length) && length >= 1 && length < contextLength) return { kind: 'prompt', length }
    throw new InvalidSoftPromptError(`its length is ${length}, and the context has ${contextLength} positions.`)
  }
  const { rank, alpha, targets = projections } = method
  const parsed = LoraConfig.safeParse({ rank, alpha, targets })
  if (parsed.success) return { kind: 'lora', ...parsed.data }
  throw new InputError({
    code: 'model/invalid-lora',
    message: `This LoRA cannot be trained: ${z.prettifyError(parsed.error)}`,
    hint: `Targets are among ${projections.join(', ')} and lm_head; rank and alpha are positive.`,
  })
}

/** The tokens that a soft prompt begins as. The engine has no words: who has a tokenizer turns a text into tokens. */
function initialTokens(
  { initial }: Extract<TrainingMethod, { kind: 'prompt' }>,
  { vocabSize }: TransformerConfig,
): readonly number[] {
  if (initial === undefined) return []
  if (typeof initial === 'string')
    throw new InvalidSoftPromptError('its `initial` is a text, and this engine has no tokenizer: give tokens.')
  if (initial.length === 0) throw new InvalidSoftPromptError('its `initial` has no token.')
  const foreign = initial.find((token) => !(Number.isInteger(token) && token >= 0 && token < vocabSize))
  if (foreign === undefined) return initial
  throw new InvalidSoftPromptError(`its initial tokens include ${foreign}, and the vocabulary has ${vocabSize} tokens.`)
}

/** The bytes of an adapter, of a soft prompt, or of a whole model: those hold its embedding. */
function readContent(config: TransformerConfig, bytes: Uint8Array, contextLength: number): AdapterContent {
  const file = readSafetensors(bytes)
  if (holdsSoftPrompt(file)) {
    const prompt = readSoftPrompt(config, bytes)
    if (prompt.length < contextLength) return { kind: 'prompt', prompt }
    throw new StateMismatchError(`a soft prompt of ${prompt.length} fills the context of ${contextLength} positions`)
  }
  if (!file.tensors.has(names.embedding)) return { kind: 'lora', adapter: readAdapter(config, bytes) }
  const trained = { kind: 'full' } as const
  return adapterContent(config, trained, readTrainedWeights(config, trained, bytes))
}
