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
import { virtualTokens } from '../train/soft-prompt.ts'
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
  /** What stands in front of a prompt, by adapter: the tokens of a soft prompt. */
  readonly #virtual = new Map<string, readonly number[]>()
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
    const { adapter, params, samples = 1 } = request
    validateRequest(request, { ...this.capabilities, contextLength: this.#room(adapter) })
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
    const ebnf = grammar === undefined ? null : await this.#admitted(grammar)
    return Promise.all(
      Array.from({ length: samples }, (_, index) => this.#continue(request, ebnf, index, sampleSeed(seed, index))),
    )
  }

  /** The grammar as shards take it. @throws UnusableGrammarError */
  async #admitted(grammar: Grammar): Promise<string> {
    const grammars = this.#grammars
    if (grammars === null)
      throw new UnusableGrammarError(
        'this engine knows no vocabulary.',
        'Open it with `vocabulary`, or ask without a grammar.',
      )
    const ebnf = ebnfOf(grammar)
    await grammars.trial.admit(ebnf)
    await this.#backend.setVocabulary(grammars.vocabulary)
    return ebnf
  }

  /** Holds an adapter and returns its reference. */
  async load(content: AdapterContent): Promise<AdapterRef> {
    const id = `adapter-${this.#adapters++}`
    await this.#backend.loadAdapter(id, content)
    this.#inFlight.set(id, new Set())
    if (content.kind !== 'prompt') return { kind: 'adapter', id }
    const virtual = virtualTokens({ vocabSize: this.capabilities.vocabularySize }, content.prompt)
    this.#virtual.set(id, virtual)
    return { kind: 'adapter', id, positions: virtual.length }
  }

  /** Requests in flight end as they would have; new ones are refused at once. */
  async unload({ id }: AdapterRef): Promise<void> {
    const users = this.#inFlight.get(id)
    if (!users) throw new UnknownAdapterError(id)
    this.#inFlight.delete(id)
    await Promise.allSettled(users)
    this.#virtual.delete(id)
    await this.#backend.unloadAdapter(id)
  }

  #virtualOf(adapter: AdapterRef | null): readonly number[] {
    return (adapter && this.#virtual.get(adapter.id)) ?? []
  }

  /** Tokens that prompt and continuation may have together. */
  #room(adapter: AdapterRef | null): number {
    return this.capabilities.contextLength - this.#virtualOf(adapter).length
  }

  /** One continuation. With stop strings, it is sampled in stretches that end where a string may have been completed. */
  async #continue(request: SampleRequest, ebnf: string | null, sample: number, seed: number): Promise<SampledSequence> {
    const { prompt, adapter, params, signal, onTokens } = request
    const listener: Listener | undefined = onTokens && ((next) => onTokens({ sample, ...next }))
    const { temperature = 1, topK = Number.POSITIVE_INFINITY, topP = 1, stop = [], stopTokens = [] } = params
    const maxTokens = Math.min(params.maxTokens, this.#room(adapter) - prompt.length)
    const read = [...this.#virtualOf(adapter), ...prompt]
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
