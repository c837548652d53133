import { setMaxListeners } from 'node:events'
import type { AdapterRef, BlobHash, ModelService } from '../../core/index.ts'
import { RatchetError } from '../../errors/index.ts'
import type { Outcome, Settled, StoredRequest, StoredSampler } from '../journal/events.ts'
import { Adapters } from './adapters.ts'
import { finite } from './pass-result.ts'
import { PromptScorer } from './prompt-scorer.ts'
import type { Suspects } from './suspects.ts'

export interface SampleDeskOptions {
  readonly service: Pick<ModelService, 'sampler' | 'loadAdapter' | 'trainer'>
  readonly blob: (hash: BlobHash) => Promise<Uint8Array>
  readonly settle: (event: Omit<Settled, 'type' | 'at'>) => Promise<void>
  readonly onFatal: (error: unknown) => void
  readonly suspects: Suspects
  /** Whether it is known what came of a request. */
  readonly isOver: (id: string) => boolean
  /** Writes down that requests were begun and are not done, because the server closes. */
  readonly putBack: (ids: readonly string[]) => Promise<void>
  /** Adapters that are loaded for sampling at once. */
  readonly mostAdapters: number
}

/** Draws samples, all that are asked for at once: the engine batches them. */
export class SampleDesk {
  readonly #options: SampleDeskOptions
  readonly #adapters: Adapters
  readonly #scorer: PromptScorer
  readonly #ending = new AbortController()
  readonly #underWay = new Set<Promise<void>>()

  constructor(options: SampleDeskOptions) {
    this.#options = options
    this.#adapters = new Adapters(options.service, options.blob, options.mostAdapters)
    this.#scorer = new PromptScorer(options.service, options.blob)
    // Every sample under way listens to it.
    setMaxListeners(0, this.#ending.signal)
  }

  /** Takes a request; what comes of it is settled. */
  take(request: StoredRequest, sampler: StoredSampler): void {
    const work = this.#answer(request, sampler)
      .catch((error: unknown) => {
        // The weights of a session that ended meanwhile are gone.
        if (!this.#ending.signal.aborted && !this.#options.isOver(request.id)) this.#options.onFatal(error)
      })
      .finally(() => this.#underWay.delete(work))
    this.#underWay.add(work)
  }

  /** What is under way is left unsettled: it is drawn after the next start. */
  async close(): Promise<void> {
    this.#ending.abort()
    await Promise.all(this.#underWay)
    await this.#scorer.close()
  }

  async #answer(request: StoredRequest, sampler: StoredSampler): Promise<void> {
    const { suspects, settle, putBack } = this.#options
    const settled = (outcome: Outcome) => settle({ requests: [{ id: request.id, outcome }] })
    const draw = async () => {
      try {
        const outcome = await this.#drawn(request, sampler).catch(refusal)
        if (!this.#ending.signal.aborted) return await settled(outcome)
      } catch (error) {
        if (!this.#ending.signal.aborted) throw error
      }
      await putBack([request.id])
    }
    await suspects.attempt([request], draw, settled)
  }

  async #drawn({ work }: StoredRequest, { weights }: StoredSampler): Promise<Outcome> {
    if (work?.kind !== 'sample') throw new TypeError('The request of a sampler is a sample.')
    const { prompt, params, samples } = work
    const { signal } = this.#ending
    const draw = (adapter: AdapterRef | null) =>
      this.#options.service.sampler.sample({ prompt, adapter, params, samples, signal })
    const drawn = await (weights === null ? draw(null) : this.#adapters.use(weights.blob, draw))
    return {
      kind: 'sample',
      sequences: drawn.map(({ tokens, logprobs, stopReason }) => ({
        tokens: [...tokens],
        logprobs: [...logprobs],
        stopReason,
      })),
      promptLogprobs: work.promptLogprobs ? (await this.#scorer.score(weights, prompt)).map(told) : null,
    }
  }
}

const told = (logprob: number | null): number | null => (logprob === null ? null : finite(logprob))

function refusal(error: unknown): Outcome {
  if (!RatchetError.is(error) || !/^model\/(?:invalid|state|non-finite)/.test(error.code)) throw error
  return { kind: 'failed', message: `${error.message} ${error.hint}`, category: 'user', code: error.code }
}
