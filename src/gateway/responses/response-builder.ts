import type { ChatChunk, WireLogprobs, WireUsage } from '../../core/index.ts'
import { CallDraft, type ItemDraft, MessageDraft, PartDraft, ReasoningDraft } from './item-drafts.ts'
import { type ItemStatus, logprobsOf, type ResponseState, responseObject, statusOf } from './response-object.ts'
import type { ResponsesRequest } from './responses-request.ts'

type CallDelta = NonNullable<ChatChunk['choices'][number]['delta']['tool_calls']>[number]

/** Told of the events of a response, in their order. */
export type Emit = (type: string, fields: object) => void

/** Log-probabilities that the last events tell again, each of them all; more of them are no answer of any model. */
const mostLogprobs = 131_072

/** What of a call is known before its name is. */
interface UnnamedCall {
  id: string | undefined
  arguments: string
}

/**
 * Builds a response from what a chat model says, and tells the events of it. Thoughts are closed as soon as something
 * else is said; words and calls stay open until the end, since models may come back to them.
 */
export class ResponseBuilder {
  readonly #request: ResponsesRequest
  readonly #id: string
  readonly #wantsLogprobs: boolean
  readonly #emit: Emit
  readonly #items: ItemDraft[] = []
  readonly #calls = new Map<number, CallDraft>()
  readonly #unnamed = new Map<number, UnnamedCall>()
  #reasoning: ReasoningDraft | null = null
  #message: MessageDraft | null = null
  #createdAt: number | null = null
  #model: string
  #usage: WireUsage | null = null
  #finish: string | null = null

  constructor(request: ResponsesRequest, id: string, wantsLogprobs: boolean, emit: Emit) {
    this.#request = request
    this.#id = id
    this.#model = request.model
    this.#wantsLogprobs = wantsLogprobs
    this.#emit = emit
  }

  /** @param first tells which model answers, and since when; `null` when nothing comes. */
  open(first: ChatChunk | null): void {
    if (first !== null) this.#readHead(first)
    this.#emit('response.created', { response: this.#response('in_progress') })
    this.#emit('response.in_progress', { response: this.#response('in_progress') })
  }

  take(chunk: ChatChunk): void {
    this.#readHead(chunk)
    const choice = chunk.choices.find(({ index }) => index === 0)
    if (choice === undefined) return
    const { delta, finish_reason, logprobs } = choice
    const reasoning = delta.reasoning_content ?? delta['reasoning']
    if (typeof reasoning === 'string' && reasoning !== '') this.#think(reasoning)
    if (delta.content) this.#say('text', delta.content, logprobs)
    if (delta.refusal) this.#say('refusal', delta.refusal, null)
    for (const call of delta.tool_calls ?? []) this.#call(call)
    if (finish_reason) this.#finish = finish_reason
  }

  /** Nothing more is said. @returns the response. */
  complete(): object {
    for (const [place, call] of this.#unnamed) this.#showCall(place, call, '')
    if (this.#items.length === 0) this.#say('text', '', null)
    const { status, incomplete_details } = statusOf(this.#finish)
    const last = this.#items.at(-1)
    for (const item of this.#items) this.#close(item, item === last ? status : 'completed')
    const response = this.#response(status, { incomplete_details })
    this.#emit(`response.${status}`, { response })
    return response
  }

  /** The answer cannot be brought to its end. */
  fail(message: string): void {
    for (const item of this.#items) if (item.status === 'in_progress') item.status = 'incomplete'
    const error = { code: 'server_error', message }
    this.#emit('response.failed', { response: this.#response('failed', { error }) })
  }

  #readHead({ model, created, usage }: ChatChunk): void {
    this.#createdAt ??= created
    if (model !== '') this.#model = model
    if (usage) this.#usage = usage
  }

  #response(status: ResponseState['status'], more: Pick<ResponseState, 'incomplete_details' | 'error'> = {}): object {
    return responseObject(this.#request, {
      id: this.#id,
      createdAt: this.#createdAt ?? Math.floor(Date.now() / 1000),
      model: this.#model,
      status,
      output: this.#items.map((item) => item.item()),
      usage: this.#usage,
      ...more,
    })
  }

  /** The id of the next item: the same answer always has the same. */
  #nextId(prefix: string): string {
    return `${prefix}_${this.#id.replace(/^resp_/, '')}_${this.#items.length}`
  }

  #show<T extends ItemDraft>(item: T): T {
    this.#items.push(item)
    this.#emit('response.output_item.added', { output_index: item.index, item: item.item() })
    return item
  }

  #think(delta: string): void {
    let item = this.#reasoning
    if (item === null) {
      item = this.#reasoning = this.#show(new ReasoningDraft(this.#nextId('rs'), this.#items.length))
      this.#emit('response.content_part.added', { ...at(item), content_index: 0, part: item.part() })
    }
    item.text += delta
    this.#emit('response.reasoning_text.delta', { ...at(item), content_index: 0, delta })
  }

  #stopThinking(): void {
    if (this.#reasoning !== null) this.#close(this.#reasoning, 'completed')
    this.#reasoning = null
  }

  #say(kind: PartDraft['kind'], delta: string, told: WireLogprobs | null | undefined): void {
    this.#stopThinking()
    const message = (this.#message ??= this.#show(new MessageDraft(this.#nextId('msg'), this.#items.length)))
    const part = message.parts.find((part) => part.kind === kind) ?? this.#addPart(message, kind)
    part.text += delta
    const place = { ...at(message), content_index: part.index }
    if (kind === 'refusal') {
      this.#emit('response.refusal.delta', { ...place, delta })
      return
    }
    const logprobs = this.#wantsLogprobs ? logprobsOf(told) : []
    for (const one of logprobs) if (part.logprobs.length < mostLogprobs) part.logprobs.push(one)
    if (delta !== '') this.#emit('response.output_text.delta', { ...place, delta, logprobs })
  }

  #addPart(message: MessageDraft, kind: PartDraft['kind']): PartDraft {
    const part = new PartDraft(kind, message.parts.length)
    message.parts.push(part)
    this.#emit('response.content_part.added', { ...at(message), content_index: part.index, part: part.part() })
    return part
  }

  #call({ index: place, id, function: called }: CallDelta): void {
    this.#stopThinking()
    const shown = this.#calls.get(place)
    if (shown) {
      this.#argue(shown, called?.arguments ?? '')
      return
    }
    const call = this.#unnamed.get(place) ?? { id: undefined, arguments: '' }
    if (id) call.id = id
    call.arguments += called?.arguments ?? ''
    if (called?.name) this.#showCall(place, call, called.name)
    else this.#unnamed.set(place, call)
  }

  #showCall(place: number, { id, arguments: text }: UnnamedCall, name: string): void {
    const itemId = this.#nextId('fc')
    const item = this.#show(new CallDraft(itemId, this.#items.length, id ?? itemId.replace(/^fc/, 'call'), name))
    this.#calls.set(place, item)
    this.#unnamed.delete(place)
    this.#argue(item, text)
  }

  #argue(item: CallDraft, delta: string): void {
    if (delta === '') return
    item.arguments += delta
    this.#emit('response.function_call_arguments.delta', { ...at(item), delta })
  }

  #close(item: ItemDraft, status: ItemStatus): void {
    if (item.status !== 'in_progress') return
    item.status = status
    if (item instanceof ReasoningDraft) {
      this.#emit('response.reasoning_text.done', { ...at(item), content_index: 0, text: item.text })
      this.#emit('response.content_part.done', { ...at(item), content_index: 0, part: item.part() })
    } else if (item instanceof MessageDraft) {
      for (const part of item.parts) this.#closePart(item, part)
    } else {
      const { name, arguments: text } = item
      this.#emit('response.function_call_arguments.done', { ...at(item), name, arguments: text })
    }
    this.#emit('response.output_item.done', { output_index: item.index, item: item.item() })
  }

  #closePart(message: MessageDraft, part: PartDraft): void {
    const place = { ...at(message), content_index: part.index }
    if (part.kind === 'refusal') this.#emit('response.refusal.done', { ...place, refusal: part.text })
    else this.#emit('response.output_text.done', { ...place, text: part.text, logprobs: part.logprobs })
    this.#emit('response.content_part.done', { ...place, part: part.part() })
  }
}

const at = ({ id, index }: ItemDraft) => ({ item_id: id, output_index: index })
