import type { z } from 'zod'
import {
  type AdapterRef,
  type BlobHash,
  type BlobRef,
  type ChatCall,
  type ChatChunk,
  type ChatReply,
  type ChatUpstream,
  type Clock,
  contentHash,
  contextUnder,
  type Json,
  type ModelService,
  type ServedModel,
  systemClock,
  type WeightsValue,
  savedAt,
} from '../../core/index.ts'
import { AdapterShelf, type TakenAdapter } from '../openai/adapter-shelf.ts'
import { notLoaded, otherBase, servesNoAdapters } from '../openai/unserved-adapter.ts'
import { asked } from './asked.ts'
import type { Piece } from './choice.ts'
import { ChunkWriter } from './chunk-writer.ts'
import { CompletionWriter } from './completion-writer.ts'
import { cancelled, closed, failed, refused } from './failures.ts'
import { generate, type Generation } from './generate.ts'
import { Pipe } from './pipe.ts'
import { promptTokens, tooLong } from './prompt.ts'
import { type AnswerSetup, newAnswerId } from './wire.ts'

export interface ChatUpstreamOptions {
  /** For records, metrics and people. */
  readonly name: string
  readonly service: ModelService
  /** The bytes of adapters, by their hash. Without it, the base alone answers. */
  readonly adapterBytes?: (hash: BlobHash) => Promise<Uint8Array>
  /** Adapters that are held at once, at most; more only while requests use more. Default 8. */
  readonly mostAdapters?: number
  /** Tokens of an answer whose client names no bound; never more than the context leaves. Default 2,048. */
  readonly defaultMaxTokens?: number
  /** Whether closing the upstream closes the service too. Default false: whoever opened it closes it. */
  readonly ownsService?: boolean
  readonly clock?: Clock
}

/**
 * A model service as an upstream: it answers the OpenAI API's chat requests, tells token ids and log-probabilities of
 * whatever it samples, and refuses what it cannot do. The model goes by its name and by its reference, whichever adapter
 * answers; a request keeps the one that it began with to its last token (invariant 11). Closing it cancels what is under
 * way.
 */
export function chatUpstream(options: ChatUpstreamOptions): ChatUpstream {
  return new ServiceUpstream(options)
}

type Weights = z.infer<typeof WeightsValue>

/** A generation, with the adapter that it uses until it is given back. */
type Held = Generation & Pick<TakenAdapter<AdapterRef>, 'giveBack'>

/** The base model: nothing is taken. */
const untouched = { adapter: null, giveBack: () => {} }

class ServiceUpstream implements ChatUpstream {
  readonly name: string
  readonly tellsTokens = true
  readonly #options: ChatUpstreamOptions
  readonly #clock: Clock
  readonly #model: ServedModel
  /** `null` where nobody can say what an adapter's bytes are. */
  readonly #adapters: AdapterShelf<AdapterRef, BlobRef> | null
  readonly #underWay = new Map<AbortController, Promise<void>>()
  #closed = false

  constructor(options: ChatUpstreamOptions) {
    this.name = options.name
    this.#options = options
    this.#clock = options.clock ?? systemClock
    this.#model = { id: options.service.sampler.capabilities.model, ownedBy: 'ratchet', created: this.#seconds() }
    this.#adapters = options.adapterBytes ? this.#shelf(options.adapterBytes) : null
  }

  get servesAdapters(): boolean {
    return this.#adapters !== null
  }

  async prepare(model: string, weights: Weights): Promise<void> {
    this.#refuseUnknown(model)
    const { adapter } = weights
    if (adapter !== null) await this.#shelfFor(weights).prepare(adapter)
  }

  models(): Promise<readonly ServedModel[]> {
    return Promise.resolve([this.#model])
  }

  weights(): Weights {
    const { base, baseHash } = this.#options.service
    return { kind: 'weights', base, baseHash, adapter: null }
  }

  async chat({ request, weights, history, signal }: ChatCall): Promise<ChatReply> {
    this.#refuseUnknown(request.model)
    const wanted = asked(request, { service: this.#options.service, upstream: this.name })
    const { service, defaultMaxTokens = 2_048 } = this.#options
    const { contextLength } = service.sampler.capabilities
    const adapter = weights?.adapter ?? null
    const prompt = promptTokens(service.renderer, { ...wanted, history }, { contextLength, upstream: this.name })
    const taken = adapter === null || weights === null ? untouched : await this.#shelfFor(weights).take(adapter)
    const room = contextUnder(service.sampler, taken.adapter)
    if (prompt.length >= room) {
      taken.giveBack()
      throw tooLong(this.name, room, String(prompt.length))
    }
    const generation: Held = {
      service,
      asked: wanted,
      prompt,
      ...taken,
      maxTokens: Math.min(wanted.maxTokens ?? defaultMaxTokens, room - prompt.length),
      stopping: new AbortController(),
    }
    const answer: AnswerSetup = {
      head: {
        id: newAnswerId(),
        created: this.#seconds(),
        model: this.#model.id,
        system_fingerprint: `fp_${contentHash({ ...this.weights(), adapter }).slice(0, 16)}`,
      },
      asked: wanted,
      prompt,
      renderer: service.renderer,
    }
    return wanted.stream ? this.#stream(generation, answer, signal) : this.#whole(generation, answer, signal)
  }

  embeddings(): Promise<Json> {
    return Promise.reject(
      refused(this.name, {
        status: 404,
        code: 'unsupported_endpoint',
        param: null,
        message: `The model ${this.#model.id} does not make embeddings.`,
        hint: 'Ask an upstream that serves an embedding model.',
      }),
    )
  }

  async close(): Promise<void> {
    this.#closed = true
    for (const stopping of this.#underWay.keys()) stopping.abort()
    await Promise.allSettled(this.#underWay.values())
    if (this.#options.ownsService === true) await this.#options.service.close()
  }

  async #whole(generation: Held, answer: AnswerSetup, signal: AbortSignal): Promise<ChatReply> {
    const writer = new CompletionWriter(answer)
    await this.#run(generation, signal, (piece) => writer.add(piece))
    return { kind: 'whole', completion: writer.completion(), upstream: this.name }
  }

  /** The reply is there with its first chunk: what fails before is a failure of the request. */
  async #stream(generation: Held, answer: AnswerSetup, signal: AbortSignal): Promise<ChatReply> {
    const writer = new ChunkWriter(answer)
    const pipe = new Pipe<ChatChunk>(() => generation.stopping.abort())
    const put = (chunk: ChatChunk) => pipe.put(chunk)
    this.#run(generation, signal, (piece) => writer.chunks(piece).forEach(put))
      .then(() => {
        writer.closing().forEach(put)
        pipe.end()
      })
      .catch((error: unknown) => pipe.fail(failed(this.name, error)))
    await pipe.begun()
    return { kind: 'stream', chunks: pipe, upstream: this.name }
  }

  /** Samples to the end, and gives the adapter back. @throws UpstreamError */
  async #run(generation: Held, signal: AbortSignal, tell: (piece: Piece) => void): Promise<void> {
    try {
      await this.#sample(generation, signal, tell)
    } finally {
      generation.giveBack()
    }
  }

  async #sample(generation: Generation, signal: AbortSignal, tell: (piece: Piece) => void): Promise<void> {
    const { stopping } = generation
    const stop = () => stopping.abort()
    if (this.#closed) throw closed(this.name)
    if (signal.aborted) throw cancelled(this.name)
    signal.addEventListener('abort', stop, { once: true })
    const work = generate(generation, tell)
    this.#underWay.set(
      stopping,
      work.then(
        () => {},
        () => {},
      ),
    )
    try {
      if (!(await work)) throw cancelled(this.name)
    } catch (error) {
      throw failed(this.name, error, generation.asked.constraint?.param)
    } finally {
      signal.removeEventListener('abort', stop)
      this.#underWay.delete(stopping)
    }
  }

  #shelf(bytes: (hash: BlobHash) => Promise<Uint8Array>): AdapterShelf<AdapterRef, BlobRef> {
    const { service, mostAdapters = 8 } = this.#options
    return new AdapterShelf({
      most: mostAdapters,
      load: async (ref) => {
        try {
          return await service.loadAdapter(await savedAt({ get: bytes }, ref))
        } catch (error) {
          throw notLoaded(this.name, error)
        }
      },
      unload: (ref) => service.sampler.unload(ref),
    })
  }

  /** @throws UnservedAdapterError for weights that are none over this model. */
  #shelfFor({ base, baseHash }: Weights): AdapterShelf<AdapterRef, BlobRef> {
    const { service } = this.#options
    if (this.#adapters === null) throw servesNoAdapters(this.name)
    if (baseHash !== service.baseHash) throw otherBase(this.name, base, service.base)
    return this.#adapters
  }

  /** @throws UpstreamError `refused` */
  #refuseUnknown(model: string): void {
    if (model === this.#model.id || model === this.#options.service.base) return
    throw refused(this.name, {
      status: 404,
      code: 'model_not_found',
      param: 'model',
      message: `The model \`${model}\` does not exist or you do not have access to it.`,
      hint: `Ask for \`${this.#model.id}\`.`,
    })
  }

  #seconds(): number {
    return Math.floor(this.#clock.now() / 1000)
  }
}
