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
import type { AdapterContent } from '../train/adapter-content.ts'
import type { Listener, SampledTokens, SampleJob } from './job.ts'
import { ebnfOf } from '../grammar/ebnf.ts'
import type { GrammarTrial } from '../grammar/trial.ts'
import { UnusableGrammarError } from '../grammar/unusable-grammar-error.ts'
import { type Decode, StopStrings } from './stop-strings.ts'
import { sampleSeed } from './uniform.ts'
import { UnknownAdapterError } from './unknown-adapter-error.ts'
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
  /** Requests in flight by adapter. */
  readonly #inFlight = new Map<string, Set<Promise<unknown>>>()
  readonly #grammars: Grammars | null
  #adapters = 0

  /** @param grammars without them, none is held to. */
  constructor(
    backend: SamplingBackend,
    capabilities: SamplerCapabilities,
    decode: Decode,
    grammars: Grammars | null = null,
  ) {
    this.capabilities = { ...capabilities, grammars: grammars !== null }
    this.#grammars = grammars
    this.#backend = backend
    this.#stops = new StopStrings(decode, capabilities.vocabularySize)
  }

  async sample(request: SampleRequest): Promise<readonly SampledSequence[]> {
    validateRequest(request, this.capabilities)
    const { adapter, params, samples = 1 } = request
    const users = adapter === null ? undefined : this.#inFlight.get(adapter.id)
    if (adapter !== null && !users) throw new UnknownAdapterError(adapter.id)
    const seed = params.seed ?? (this.capabilities.deterministic ? 0 : randomInt(2 ** 47))
    const work = this.#all(request, seed, samples)
    users?.add(work)
    try {
      return await work
    } finally {
      users?.delete(work)
    }
  }

  async #all(request: SampleRequest, seed: number, samples: number): Promise<readonly SampledSequence[]> {
    const { grammar } = request.params
    const ebnf = grammar === undefined ? null : await this.#admitted(grammar, request.signal)
    if (ebnf === cancelled) return Array.from({ length: samples }, () => nothing)
    return Promise.all(
      Array.from({ length: samples }, (_, index) => this.#continue(request, ebnf, index, sampleSeed(seed, index))),
    )
  }

  /** The grammar as shards take it. @throws UnusableGrammarError */
  async #admitted(grammar: Grammar, signal: AbortSignal | undefined): Promise<string | typeof cancelled> {
    const grammars = this.#grammars
    if (grammars === null)
      throw new UnusableGrammarError(
        'this engine knows no vocabulary.',
        'Open it with `vocabulary`, or ask without a grammar.',
      )
    const ebnf = ebnfOf(grammar)
    if (!(await grammars.trial.admit(ebnf, signal))) return cancelled
    await this.#backend.setVocabulary(grammars.vocabulary)
    return ebnf
  }

  /** Holds an adapter and returns its reference. */
  async load(content: AdapterContent): Promise<AdapterRef> {
    const id = `adapter-${this.#adapters++}`
    await this.#backend.loadAdapter(id, content)
    this.#inFlight.set(id, new Set())
    return { kind: 'adapter', id }
  }

  /** Requests in flight end as they would have; new ones are refused at once. */
  async unload({ id }: AdapterRef): Promise<void> {
    const users = this.#inFlight.get(id)
    if (!users) throw new UnknownAdapterError(id)
    this.#inFlight.delete(id)
    await Promise.allSettled(users)
    await this.#backend.unloadAdapter(id)
  }

  /** One continuation. With stop strings, it is sampled in stretches that end where a string may have been completed. */
  async #continue(request: SampleRequest, ebnf: string | null, sample: number, seed: number): Promise<SampledSequence> {
    const { prompt, adapter, params, signal, onTokens } = request
    const listener: Listener | undefined = onTokens && ((next) => onTokens({ sample, ...next }))
    const { temperature = 1, topK = Number.POSITIVE_INFINITY, topP = 1, stop = [], stopTokens = [] } = params
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
          ...(ebnf === null ? {} : { grammar: { ebnf, stopTokens } }),
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
