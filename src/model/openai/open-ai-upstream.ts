import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import {
  atFirstIssue,
  type BlobHash,
  ChatCompletion,
  type ChatCall,
  type ChatReply,
  type ChatRequest,
  type ChatUpstream,
  contentHash,
  Json,
  plainCompletion,
  type ServedModel,
  turns,
  type WeightsValue,
} from '../../core/index.ts'
import { type Asked, Asking, type TellsTokens } from './asking.ts'
import { begun } from './begun.ts'
import { ChunkStream } from './chunk-stream.ts'
import { Endpoint, type EndpointRequest } from './endpoint.ts'
import { malformed, unaskedChoice } from '../http/failures.ts'
import { type AnswerJson, readJson } from '../http/read-json.ts'
import { Repair } from './repair.ts'
import { keptElsewhere, otherBase, servesNoAdapters } from './unserved-adapter.ts'
import { UpstreamError } from '../http/upstream-error.ts'
import { type VllmAdapterOptions, VllmAdapters } from './vllm-adapters.ts'

/** An OpenAI-compatible API. */
export interface OpenAiUpstreamOptions {
  /** For records, metrics and people. */
  readonly name: string
  /** Its base URL, `/v1` included; a `/` at the end does not matter. */
  readonly url: string
  /** Its own key. Without one, the client's `Authorization` goes on to it. */
  readonly key?: string | null
  /** Whether it tells token ids, as vLLM does. Default `ask`: it is asked, and what it answers is remembered. */
  readonly tellsTokens?: TellsTokens
  /** From the request until the answer begins, and between two pieces of it. Default 120 000 and 60 000 ms. */
  readonly firstByteTimeoutMs?: number
  readonly idleTimeoutMs?: number
  /** A larger answer is cut off as broken. Default 32 MiB. */
  readonly maxAnswerBytes?: number
  /** Certificates of authorities to trust in place of the public ones, as PEM. */
  readonly ca?: string | null
  /** Where adapters come from and go to, for a vLLM server that loads them while it runs. Default: it serves none. */
  readonly adapters?: VllmAdapterOptions | null
}

/** More is no list of models. */
const mostModels = 10_000

const ModelList = z.looseObject({
  data: z
    .array(
      z.looseObject({
        id: z.string().min(1),
        owned_by: z.string().nullish(),
        created: z.number().nonnegative().nullish(),
      }),
    )
    .max(mostModels),
})

/**
 * Any OpenAI-compatible URL as a ChatUpstream. Beside what the client asks for it asks for token ids, their
 * log-probabilities and the usage of streams, where the upstream has them ({@link Asking}); a request that is refused with
 * them is sent again without. Taking out again what the client did not ask for is the gateway's.
 * @throws InputError for a URL or a key that cannot be used.
 */
export function openAiUpstream(options: OpenAiUpstreamOptions): ChatUpstream {
  return new OpenAiUpstream(options)
}

class OpenAiUpstream implements ChatUpstream {
  readonly name: string
  readonly #endpoint: Endpoint
  readonly #asking: Asking
  readonly #adapters: VllmAdapters | null
  /** By the model's name. */
  readonly #weights = new LRUCache<string, z.infer<typeof WeightsValue>>({ max: 256 })

  constructor(options: OpenAiUpstreamOptions) {
    this.name = options.name
    this.#asking = new Asking(options.tellsTokens ?? 'ask')
    this.#endpoint = new Endpoint({
      upstream: options.name,
      url: options.url,
      key: options.key ?? null,
      ca: options.ca ?? null,
      firstByteTimeoutMs: options.firstByteTimeoutMs ?? 120_000,
      idleTimeoutMs: options.idleTimeoutMs ?? 60_000,
      maxAnswerBytes: options.maxAnswerBytes ?? 32 * 1024 * 1024,
    })
    this.#adapters = options.adapters ? new VllmAdapters(this.name, this.#endpoint, options.adapters) : null
  }

  /** True once it has told some, or when the configuration says that it does. */
  get tellsTokens(): boolean {
    return this.#asking.tellsTokens
  }

  get servesAdapters(): boolean {
    return this.#adapters !== null
  }

  async prepare(model: string, weights: z.infer<typeof WeightsValue>): Promise<void> {
    const adapter = this.#adapterIn(model, weights)
    if (adapter !== null) await adapter.of.prepare(adapter.hash)
  }

  /** The files behind a served model cannot be seen: its hash is that of its name, and says nothing of its content. */
  weights(model: string): z.infer<typeof WeightsValue> {
    const known = this.#weights.get(model)
    if (known) return known
    const base = `${this.name}/${model}`
    const weights = { kind: 'weights' as const, base, baseHash: contentHash(base), adapter: null }
    this.#weights.set(model, weights)
    return weights
  }

  async models(call: Pick<ChatCall, 'authorization' | 'signal' | 'room'>): Promise<readonly ServedModel[]> {
    const { value, weight } = await this.#json({ method: 'GET', path: '/models', ...call })
    await turns.next(weight)
    const list = ModelList.safeParse(value, atFirstIssue)
    if (!list.success) throw this.#problemOf(value, call.authorization, 'a list of models that is none')
    const served = list.data.data.map(({ id, owned_by, created }) => ({
      id,
      ownedBy: owned_by ?? this.name,
      created: created ?? 0,
    }))
    return this.#adapters === null ? served : served.filter(({ id }) => !VllmAdapters.isName(id))
  }

  async embeddings({ body, ...call }: Parameters<ChatUpstream['embeddings']>[0]): Promise<Json> {
    const { value, weight } = await this.#json({ method: 'POST', path: '/embeddings', body, ...call })
    await turns.next(weight)
    const answer = Json.safeParse(value)
    if (!answer.success || this.#endpoint.failureIn(value, call.authorization)) {
      throw this.#problemOf(value, call.authorization, 'embeddings that are none')
    }
    return answer.data
  }

  async chat(call: ChatCall): Promise<ChatReply> {
    const adapter = call.weights && this.#adapterIn(call.request.model, call.weights)
    if (!adapter) return this.#ask(call)
    return adapter.of.answer(adapter.hash, call, (name) => this.#ask(call, name))
  }

  /** @param servedAs the name that the upstream knows the weights by, where that is another than the client's. */
  async #ask(call: ChatCall, servedAs: string | null = null): Promise<ChatReply> {
    let asked = this.#asking.first(call.request)
    let refused: { asked: Asked; status: number } | null = null
    for (;;) {
      try {
        const reply = await this.#once(call, named(asked, servedAs))
        this.#asking.accepted(call.request, asked, refused)
        return reply
      } catch (error) {
        if (!(error instanceof UpstreamError)) throw error
        const next = this.#asking.afterRefusal(call.request, asked, error)
        if (next === null) throw error
        refused ??= { asked, status: error.status ?? 0 }
        asked = next
      }
    }
  }

  close(): Promise<void> {
    return this.#endpoint.close()
  }

  /** @throws UnservedAdapterError for one that cannot be served here. */
  #adapterIn(
    model: string,
    { base, adapter }: z.infer<typeof WeightsValue>,
  ): { readonly of: VllmAdapters; readonly hash: BlobHash } | null {
    if (adapter === null) return null
    if (this.#adapters === null) throw servesNoAdapters(this.name)
    const served = this.weights(model).base
    if (base !== served) throw otherBase(this.name, base, served)
    if (typeof adapter !== 'string') throw keptElsewhere(this.name, adapter)
    return { of: this.#adapters, hash: adapter }
  }

  /** Waits for a stream's first chunk: what fails before it is a failure of the request. */
  #once(call: ChatCall, asked: Asked): Promise<ChatReply> {
    return asked.request.stream === true ? this.#stream(call, asked).then(begun) : this.#whole(call, asked)
  }

  async #whole({ request, authorization, signal, room }: ChatCall, asked: Asked): Promise<ChatReply> {
    const body = asked.request
    const { value, weight } = await this.#json({ ...chatPath, body, authorization, signal, room })
    await turns.next(weight)
    const completion = plainCompletion(value) ?? withPromptTokens(this.#completionIn(value, request, authorization))
    if (completion.choices.length === 0) throw malformed(this.name, 'an answer without choices')
    const unasked = completion.choices.find(({ index }) => index >= (request.n ?? 1))
    if (unasked) throw malformed(this.name, unaskedChoice(unasked.index))
    const toldTokens = completion.choices.some(({ token_ids }) => Array.isArray(token_ids))
    this.#asking.answered(request, asked, toldTokens)
    return { kind: 'whole', completion, upstream: this.name, weight }
  }

  /** @throws UpstreamError for what is none. */
  #completionIn(value: unknown, { model }: ChatRequest, authorization: string | null): ChatCompletion {
    const parsed = ChatCompletion.safeParse(value, atFirstIssue)
    if (parsed.success) return parsed.data
    const failure = this.#endpoint.failureIn(value, authorization)
    if (failure) throw failure
    const mended = ChatCompletion.safeParse(new Repair(model).mend(value), atFirstIssue)
    if (!mended.success) throw malformed(this.name, 'an answer that is no chat completion')
    return mended.data
  }

  async #stream({ request, authorization, signal, room }: ChatCall, asked: Asked): Promise<ChatReply> {
    const incoming = await this.#endpoint.send({
      ...chatPath,
      body: asked.request,
      authorization,
      accept: 'text/event-stream',
      signal,
    })
    // Servers are careless with the type of a stream, but what they call JSON or a page is no stream.
    const type = incoming.headers['content-type'] ?? ''
    if (/json|html/i.test(type)) {
      const { value } = await readJson(incoming, this.name, room)
      throw this.#problemOf(value, authorization, 'one answer where a stream was asked for')
    }
    const chunks = new ChunkStream(incoming, {
      upstream: this.name,
      model: request.model,
      choices: request.n ?? 1,
      failureIn: (value) => this.#endpoint.failureIn(value, authorization),
      complete: (toldTokens) => this.#asking.answered(request, asked, toldTokens),
    })
    return { kind: 'stream', chunks, upstream: this.name }
  }

  async #json({ room, ...request }: Omit<EndpointRequest, 'accept'> & Pick<ChatCall, 'room'>): Promise<AnswerJson> {
    return readJson(await this.#endpoint.send({ ...request, accept: 'application/json' }), this.name, room)
  }

  /** An error object, as some servers send it with status 200, or what it is instead. */
  #problemOf(value: unknown, authorization: string | null, instead: string): UpstreamError {
    return this.#endpoint.failureIn(value, authorization) ?? malformed(this.name, instead)
  }
}

/** The same, of other weights. */
const named = (asked: Asked, model: string | null): Asked =>
  model === null ? asked : { ...asked, request: { ...asked.request, model } }

const chatPath = { method: 'POST', path: '/chat/completions' } as const

/** SGLang tells a prompt's tokens with each choice, where vLLM tells them once. */
function withPromptTokens(completion: ChatCompletion): ChatCompletion {
  const told = ChatCompletion.shape.prompt_token_ids.safeParse(completion.choices[0]?.prompt_token_ids, atFirstIssue)
  if (!told.success || !told.data) return completion
  const choices = completion.choices.map((choice) => ({ ...choice, prompt_token_ids: undefined }))
  return { ...completion, choices, prompt_token_ids: completion.prompt_token_ids ?? told.data }
}
