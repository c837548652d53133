import { randomInt } from 'node:crypto'
import type {
  AdapterRef,
  SampledSequence,
  SampleRequest,
  Sampler,
  SamplerCapabilities,
  SampleStopReason,
} from '../../../core/index.ts'
import type { Datastores } from '../nearest/datastores.ts'
import type { AdapterContent } from '../train/adapter-content.ts'
import type { Listener, SampledTokens, SampleJob } from './job.ts'
import type { References } from './references.ts'
import { type Decode, StopStrings } from './stop-strings.ts'
import { sampleSeed } from './uniform.ts'
import { validateRequest } from './validate-request.ts'

/** Where jobs run: the engine's workers. */
export interface SamplingBackend {
  /** When `signal` fires the result has the tokens so far. The listener is told all of them before, as they come. */
  sample(job: Omit<SampleJob, 'id' | 'streamed'>, signal?: AbortSignal, listener?: Listener): Promise<SampledTokens>
  loadAdapter(id: string, content: AdapterContent): Promise<void>
  unloadAdapter(id: string): Promise<void>
}

/**
 * The embedded engine's Sampler. Concurrent requests are batched continuously; what prompts have in common is computed
 * once. In deterministic mode a missing seed is 0, otherwise it is random.
 */
export class EmbeddedSampler implements Sampler {
  readonly capabilities: SamplerCapabilities
  readonly #backend: SamplingBackend
  readonly #stops: StopStrings
  readonly #datastores: Datastores
  readonly #adapters: References<null>
  #loaded = 0

  constructor(
    backend: SamplingBackend,
    capabilities: SamplerCapabilities,
    decode: Decode,
    { adapters, datastores }: { readonly adapters: References<null>; readonly datastores: Datastores },
  ) {
    this.capabilities = { ...capabilities, datastores: true }
    this.#adapters = adapters
    this.#datastores = datastores
    this.#backend = backend
    this.#stops = new StopStrings(decode, capabilities.vocabularySize)
  }

  async sample(request: SampleRequest): Promise<readonly SampledSequence[]> {
    validateRequest(request, this.capabilities)
    const { adapter, params, samples = 1 } = request
    const seed = params.seed ?? (this.capabilities.deterministic ? 0 : randomInt(2 ** 47))
    const work = () =>
      Promise.all(
        Array.from({ length: samples }, (_, index) => this.#continue(request, index, sampleSeed(seed, index))),
      )
    const mixed = () => this.#datastores.during(params.nearest, adapter, work)
    return adapter === null ? mixed() : this.#adapters.during(adapter.id, mixed)
  }

  /** Holds an adapter and returns its reference. */
  async load(content: AdapterContent): Promise<AdapterRef> {
    const id = `adapter-${this.#loaded++}`
    await this.#backend.loadAdapter(id, content)
    this.#adapters.add(id, null)
    return { kind: 'adapter', id }
  }

  /** Requests in flight end as they would have; new ones are refused at once. */
  async unload({ id }: AdapterRef): Promise<void> {
    await this.#adapters.retire(id)
    await this.#backend.unloadAdapter(id)
  }

  /** One continuation. With stop strings, it is sampled in stretches that end where a string may have been completed. */
  async #continue(request: SampleRequest, sample: number, seed: number): Promise<SampledSequence> {
    const { prompt, adapter, params, signal, onTokens } = request
    const listener: Listener | undefined = onTokens && ((next) => onTokens({ sample, ...next }))
    const { temperature = 1, topK = Number.POSITIVE_INFINITY, topP = 1, stop = [], stopTokens = [] } = params
    const { nearest } = params
    const maxTokens = Math.min(params.maxTokens, this.capabilities.contextLength - prompt.length)
    const suspects = stop.length === 0 ? [] : this.#stops.suspects(stop)
    const tokens: number[] = []
    const behaviourLogprobs: number[] = []
    const logprobs: number[] = []
    const sequence = (stopReason: SampleStopReason) => ({ tokens, behaviourLogprobs, logprobs, stopReason })
    for (;;) {
      if (signal?.aborted) return sequence('cancelled')
      const stretch = await this.#backend.sample(
        {
          prompt: joined(prompt, tokens),
          adapter: adapter?.id ?? null,
          maxTokens: maxTokens - tokens.length,
          temperature,
          topK,
          topP,
          stopTokens: [...stopTokens, ...suspects],
          seed,
          firstDraw: tokens.length,
          ...(nearest && nearest.weight > 0 ? { nearest: { ...nearest, datastore: nearest.datastore.id } } : {}),
        },
        signal,
        listener,
      )
      tokens.push(...stretch.tokens)
      behaviourLogprobs.push(...stretch.behaviourLogprobs)
      logprobs.push(...stretch.logprobs)
      if (stretch.stopReason === 'cancelled') return sequence('cancelled')
      const stopped = stretch.stopReason === 'stop' && stopTokens.includes(tokens.at(-1) as number)
      if (stopped || (stop.length > 0 && this.#stops.contains(tokens, stop))) return sequence('stop')
      if (tokens.length >= maxTokens) return sequence('length')
    }
  }
}

function joined(prompt: readonly number[], tokens: readonly number[]): Int32Array {
  const all = new Int32Array(prompt.length + tokens.length)
  all.set(prompt)
  all.set(tokens, prompt.length)
  return all
}
