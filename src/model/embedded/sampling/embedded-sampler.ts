import { randomInt } from 'node:crypto'
import type {
  AdapterRef,
  Grammar,
  SampledSequence,
  SampleRequest,
  Sampler,
  SamplerCapabilities,
  SampleStopReason,
} from '../../../core/index.ts'
import { present } from '../../../errors/index.ts'
import type { Datastores } from '../nearest/datastores.ts'
import type { AdapterContent } from '../train/adapter-content.ts'
import { virtualTokens } from '../train/soft-prompt.ts'
import type { Listener, SampledTokens, SampleJob } from './job.ts'
import { ebnfOf } from '../grammar/ebnf.ts'
import type { GrammarTrial } from '../grammar/trial.ts'
import type { References } from './references.ts'
import { type Decode, StopStrings } from './stop-strings.ts'
import { sampleSeed } from './uniform.ts'
import { validateRequest } from './validate-request.ts'

/** Where jobs run: the engine's workers. */
export interface SamplingBackend {
  /** When `signal` fires the result has the tokens so far. The listener is told all of them before, as they come. */
  sample(job: Omit<SampleJob, 'id' | 'streamed'>, signal?: AbortSignal, listener?: Listener): Promise<SampledTokens>
  /** What grammars are compiled for: before the first job that has one. What comes later changes nothing. */
  setVocabulary(vocabulary: () => readonly string[]): Promise<unknown>
  loadAdapter(id: string, content: AdapterContent): Promise<void>
  unloadAdapter(id: string): Promise<void>
}

/** What sequences are held to grammars with. */
export interface Grammars {
  /** Every token as byte-level vocabularies spell it; made once. */
  readonly vocabulary: () => readonly string[]
  readonly trial: Pick<GrammarTrial, 'admit'>
}

/** What a sampler's requests name. */
interface Held {
  /** With what stands in front of every prompt: the tokens of a soft prompt. */
  readonly adapters: References<readonly number[]>
  readonly datastores: Datastores
  /** `null`: sequences are held to none. */
  readonly grammars: Grammars | null
}

/** One of a request's samples. */
interface OneOf {
  readonly request: SampleRequest
  readonly ebnf: string | null
  /** What stands in front of the prompt. */
  readonly virtual: readonly number[]
  readonly sample: number
  readonly seed: number
}

/** What came of a request that was cancelled before anything was sampled. */
const cancelled = Symbol('cancelled')
const nothing: SampledSequence = { tokens: [], behaviourLogprobs: [], logprobs: [], stopReason: 'cancelled' }

/**
 * The embedded engine's Sampler. Concurrent requests are batched continuously; what prompts have in common is computed
 * once. In deterministic mode a missing seed is 0, otherwise it is random.
 */
export class EmbeddedSampler implements Sampler {
  readonly capabilities: SamplerCapabilities
  readonly #backend: SamplingBackend
  readonly #stops: StopStrings
  readonly #datastores: Datastores
  readonly #adapters: References<readonly number[]>
  readonly #grammars: Grammars | null
  #loaded = 0

  constructor(
    backend: SamplingBackend,
    capabilities: SamplerCapabilities,
    decode: Decode,
    { adapters, datastores, grammars }: Held,
  ) {
    this.capabilities = { ...capabilities, datastores: true, grammars: grammars !== null }
    this.#adapters = adapters
    this.#datastores = datastores
    this.#grammars = grammars
    this.#backend = backend
    this.#stops = new StopStrings(decode, capabilities.vocabularySize)
  }

  async sample(request: SampleRequest): Promise<readonly SampledSequence[]> {
    const { adapter, params, samples = 1 } = request
    const work = (virtual: readonly number[]) => {
      const { contextLength } = this.capabilities
      validateRequest(request, { ...this.capabilities, contextLength: contextLength - virtual.length })
      const seed = params.seed ?? (this.capabilities.deterministic ? 0 : randomInt(2 ** 47))
      return this.#datastores.during(params.nearest?.datastore ?? null, adapter, () =>
        this.#all(request, virtual, seed, samples),
      )
    }
    return adapter === null ? work([]) : this.#adapters.during(adapter.id, work)
  }

  async #all(
    request: SampleRequest,
    virtual: readonly number[],
    seed: number,
    samples: number,
  ): Promise<readonly SampledSequence[]> {
    const { grammar } = request.params
    const ebnf = grammar === undefined ? null : await this.#admitted(grammar, request.signal)
    if (ebnf === cancelled) return Array.from({ length: samples }, () => nothing)
    return Promise.all(
      Array.from({ length: samples }, (_, index) =>
        this.#continue({ request, ebnf, virtual, sample: index, seed: sampleSeed(seed, index) }),
      ),
    )
  }

  /** The grammar as shards take it. @throws UnusableGrammarError */
  async #admitted(grammar: Grammar, signal: AbortSignal | undefined): Promise<string | typeof cancelled> {
    const grammars = present(this.#grammars, 'what grammars are compiled for')
    const ebnf = ebnfOf(grammar)
    if (!(await grammars.trial.admit(ebnf, signal))) return cancelled
    await this.#backend.setVocabulary(grammars.vocabulary)
    return ebnf
  }

  /** Holds an adapter and returns its reference. */
  async load(content: AdapterContent): Promise<AdapterRef> {
    const id = `adapter-${this.#loaded++}`
    await this.#backend.loadAdapter(id, content)
    const virtual =
      content.kind === 'prompt' ? virtualTokens({ vocabSize: this.capabilities.vocabularySize }, content.prompt) : []
    this.#adapters.add(id, virtual)
    return { kind: 'adapter', id, ...(virtual.length > 0 && { positions: virtual.length }) }
  }

  /** Requests in flight end as they would have; new ones are refused at once. */
  async unload({ id }: AdapterRef): Promise<void> {
    await this.#adapters.retire(id)
    await this.#backend.unloadAdapter(id)
  }

  /** One continuation. With stop strings, it is sampled in stretches that end where a string may have been completed. */
  async #continue({ request, ebnf, virtual, sample, seed }: OneOf): Promise<SampledSequence> {
    const { prompt, adapter, params, signal, onTokens } = request
    const listener: Listener | undefined = onTokens && ((next) => onTokens({ sample, ...next }))
    const { temperature = 1, topK = Number.POSITIVE_INFINITY, topP = 1, stop = [], stopTokens = [] } = params
    const { nearest } = params
    const maxTokens = Math.min(params.maxTokens, this.capabilities.contextLength - virtual.length - prompt.length)
    const read = [...virtual, ...prompt]
    // Configurations name ends that a model has not: xgrammar would write beside its mask.
    const ends = stopTokens.filter((token) => token < this.capabilities.vocabularySize)
    const suspects = stop.length === 0 ? [] : this.#stops.suspects(stop)
    const tokens: number[] = []
    const behaviourLogprobs: number[] = []
    const logprobs: number[] = []
    const sequence = (stopReason: SampleStopReason) => ({ tokens, behaviourLogprobs, logprobs, stopReason })
    for (;;) {
      if (signal?.aborted) return sequence('cancelled')
      const stretch = await this.#backend.sample(
        {
          prompt: joined(read, tokens),
          adapter: adapter?.id ?? null,
          maxTokens: maxTokens - tokens.length,
          temperature,
          topK,
          topP,
          stopTokens: [...stopTokens, ...suspects],
          seed,
          firstDraw: tokens.length,
          ...(ebnf === null ? {} : { grammar: { ebnf, stopTokens: ends } }),
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
