import { randomInt } from 'node:crypto'
import type { AdapterRef, SampledSequence, SampleRequest, Sampler, SamplerCapabilities } from '../../core/index.ts'
import { InvalidSampleRequestError } from '../embedded/sampling/invalid-sample-request-error.ts'
import { UnknownAdapterError } from '../embedded/sampling/unknown-adapter-error.ts'
import { validateRequest } from '../embedded/sampling/validate-request.ts'
import { malformed } from './failures.ts'
import type { SampleOutput } from './pass.ts'
import { type Requests, sampleResult } from './requests.ts'
import { firstStop } from './stop-text.ts'
import { TinkerError } from './tinker-error.ts'
import { post } from './tinker-model.ts'
import { logprobProblem } from './logprob-problem.ts'
import { modelInput } from './wire.ts'

export interface TinkerSamplerOptions {
  readonly requests: Requests
  readonly capabilities: SamplerCapabilities
  readonly decode: (tokens: readonly number[]) => string
  /** Opens a sampling session of the base model. */
  readonly openBase: () => Promise<string>
}

/** Samples are drawn from a sampling session; `release` frees what stands behind it. */
export interface SamplingSession {
  readonly session: string
  release(): Promise<void>
}

interface Held extends SamplingSession {
  readonly inFlight: Set<Promise<unknown>>
}

/** Seeds travel as integers of 31 bits: the JAX backend makes `int32` of them. */
const seeds = 2 ** 31

/**
 * Samples from a Tinker server. The protocol tells one log-probability a token, at temperature 1 over the whole vocabulary:
 * that is also the behaviour's at temperature 1 without truncation, and greedily the behaviour's is 0. Other temperatures and
 * truncation are refused, because nobody would know what was drawn from which distribution. An answer comes whole:
 * `onTokens` is told all of it at once, and a cancelled continuation has no tokens.
 */
export class TinkerSampler implements Sampler {
  readonly capabilities: SamplerCapabilities
  readonly #options: TinkerSamplerOptions
  readonly #adapters = new Map<string, Held>()
  #base: Promise<string> | null = null
  #issued = 0
  #seq = 0

  constructor(options: TinkerSamplerOptions) {
    this.#options = options
    this.capabilities = options.capabilities
  }

  async sample(request: SampleRequest): Promise<readonly SampledSequence[]> {
    validateRequest(request, this.capabilities)
    refuseOtherDistributions(request)
    const { adapter } = request
    const held = adapter === null ? undefined : this.#adapters.get(adapter.id)
    if (adapter !== null && held === undefined) throw new UnknownAdapterError(adapter.id)
    const work = this.#drawn(request, held?.session ?? null)
    held?.inFlight.add(work)
    try {
      return await work
    } finally {
      held?.inFlight.delete(work)
    }
  }

  /** Holds a sampling session, and makes a reference to it. */
  hold(served: SamplingSession): AdapterRef {
    const id = `tinker-${this.#issued++}`
    this.#adapters.set(id, { session: served.session, release: () => served.release(), inFlight: new Set() })
    return { kind: 'adapter', id }
  }

  /** Requests in flight end as they would have; new ones are refused at once. */
  async unload({ id }: AdapterRef): Promise<void> {
    const held = this.#adapters.get(id)
    if (held === undefined) throw new UnknownAdapterError(id)
    this.#adapters.delete(id)
    await Promise.allSettled(held.inFlight)
    await held.release()
  }

  async #drawn(request: SampleRequest, adapter: string | null): Promise<readonly SampledSequence[]> {
    const { samples = 1, signal, onTokens } = request
    if (signal?.aborted) return cancelledSequences(samples)
    try {
      const session = adapter ?? (await unlessAborted(this.#baseSession(), signal))
      if (session === null) return cancelledSequences(samples)
      const sequences = await this.#asked(request, session)
      sequences.forEach((sequence, sample) => {
        const { stopReason: _, ...tokens } = sequence
        if (sequence.tokens.length > 0) onTokens?.({ sample, ...tokens })
      })
      return sequences
    } catch (error) {
      if (signal?.aborted && isCancelled(error)) return cancelledSequences(samples)
      throw error
    }
  }

  async #asked({ prompt, params, samples = 1, signal }: SampleRequest, session: string) {
    const { temperature = 1, stop = [], stopTokens = [], seed } = params
    const maxTokens = Math.min(params.maxTokens, this.capabilities.contextLength - prompt.length)
    const body = {
      sampling_session_id: session,
      seq_id: this.#seq++,
      num_samples: samples,
      prompt: modelInput(prompt),
      sampling_params: {
        max_tokens: maxTokens,
        seed: serverSeed(seed ?? randomInt(seeds), samples),
        temperature,
        // A request holds tokens or texts. Texts that stand beside tokens are looked for here.
        ...(stopTokens.length > 0 ? { stop: stopTokens } : stop.length > 0 ? { stop } : {}),
      },
      prompt_logprobs: false,
      topk_prompt_logprobs: 0,
      type: 'sample',
    }
    const output = await this.#options.requests.run(post('/asample', body), 'asample', sampleResult, signal)
    const problem = this.#problemOf(output, samples, maxTokens)
    if (problem !== null) throw malformed('asample', problem)
    return output.sequences.map((sequence) => this.#sequence(sequence, stop, temperature === 0))
  }

  #sequence(drawn: SampleOutput['sequences'][number], stop: readonly string[], greedy: boolean): SampledSequence {
    const all = Array.from(drawn.tokens)
    const end = stop.length === 0 ? null : firstStop(all, stop, this.#options.decode)
    const tokens = all.slice(0, end ?? all.length)
    const logprobs = Array.from(drawn.logprobs).slice(0, tokens.length)
    return {
      tokens,
      logprobs,
      behaviourLogprobs: greedy ? logprobs.map(() => 0) : logprobs,
      stopReason: end === null ? drawn.stopReason : 'stop',
    }
  }

  #problemOf({ sequences }: SampleOutput, samples: number, maxTokens: number): string | null {
    if (sequences.length !== samples) return `${sequences.length} sequences where ${samples} were asked for`
    for (const [i, { tokens, logprobs }] of sequences.entries()) {
      const what = `sequences[${i}]`
      if (tokens.length > maxTokens) return `${what}.tokens of length ${tokens.length}, beyond ${maxTokens}`
      if (logprobs.length !== tokens.length) {
        return `${what}.logprobs of length ${logprobs.length} for ${tokens.length} tokens`
      }
      for (let t = 0; t < tokens.length; t++) {
        const token = tokens[t] ?? -1
        if (!(Number.isInteger(token) && token >= 0 && token < this.capabilities.vocabularySize)) {
          return `${what}.tokens[${t}] = ${token}, outside the vocabulary of ${this.capabilities.vocabularySize}`
        }
        const problem = logprobProblem(logprobs[t])
        if (problem !== null) return `${what}.logprobs[${t}] = ${problem}`
      }
    }
    return null
  }

  #baseSession(): Promise<string> {
    this.#base ??= this.#options.openBase().catch((error: unknown) => {
      this.#base = null
      throw error
    })
    return this.#base
  }
}

/** What is awaited, or `null` once the signal fires: all requests wait for one session, which one of them cannot end. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T | null> {
  if (signal === undefined) return work
  const aborted = new Promise<null>((resolve) => {
    signal.addEventListener('abort', () => resolve(null), { once: true })
  })
  return Promise.race([work, aborted])
}

function refuseOtherDistributions({ params: { temperature = 1, topK, topP = 1 } }: SampleRequest): void {
  if ((temperature === 0 || temperature === 1) && topK === undefined && topP === 1) return
  throw new InvalidSampleRequestError(
    `a Tinker server tells no log-probabilities at temperature ${temperature}${topK === undefined ? '' : `, topK ${topK}`}${topP === 1 ? '' : `, topP ${topP}`}.`,
    'Sample at temperature 1, or greedily (0), from the whole vocabulary.',
  )
}

/** Sequence i gets seed + i at the server, too. */
const serverSeed = (seed: number, samples: number): number =>
  Math.min(Number(BigInt.asUintN(31, BigInt(seed))), seeds - samples)

const isCancelled = (error: unknown): boolean => error instanceof TinkerError && error.code === 'model/tinker-cancelled'

const cancelledSequences = (samples: number): SampledSequence[] =>
  Array.from({ length: samples }, () => ({
    tokens: [],
    logprobs: [],
    behaviourLogprobs: [],
    stopReason: 'cancelled' as const,
  }))
