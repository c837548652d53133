import { LRUCache } from 'lru-cache'
import type { ChatRequest } from '../../core/index.ts'
import type { UpstreamError } from '../http/upstream-error.ts'

/**
 * What an upstream is asked for beside what the client asked: the tokens of prompt and answer (vLLM's and SGLang's
 * `return_token_ids`), their log-probabilities, and the usage of streams. Servers that do not know a field refuse the
 * request or ignore the field; what was learned of a model is remembered, for each kind of request on its own, since
 * SGLang tells no tokens in streams and llama.cpp refuses `logprobs` in streams with tools.
 */
export type Addition = 'tokens' | 'logprobs' | 'usage'

/** `ask`: as long as it does tell them. `yes`: always, even after answers without. */
export type TellsTokens = 'yes' | 'no' | 'ask'

/** What is asked for beside the client's own request, and how to take it back when the upstream refuses it. */
export interface Asked {
  readonly request: ChatRequest
  readonly additions: ReadonlySet<Addition>
}

/** What is known of one model and kind of request. */
interface Known {
  /** Refused, or never answered. */
  readonly without: Set<Addition>
  /** A request with additions was answered. */
  accepted: boolean
}

/** Refusals that an added field may have brought about; OpenAI's is 403 for `logprobs` of its reasoning models. */
const doubtful = new Set([400, 403, 422, 500, 501])
/** The fields that an addition brings, as a refusal may name them. */
const names: Readonly<Record<Addition, RegExp>> = {
  tokens: /return_token_ids/i,
  logprobs: /logprobs/i,
  usage: /stream_options|include_usage/i,
}
/** Servers are replaced by newer ones. */
const askAgainMs = 60 * 60 * 1_000
/** After a 500 that went away with the additions, perhaps by chance. */
const doubtMs = 60 * 1_000
const maxKnown = 1_024

export class Asking {
  readonly #mode: TellsTokens
  readonly #known: LRUCache<string, Known>
  #told = false

  /** @param time in milliseconds, from any beginning. */
  constructor(mode: TellsTokens, time: { now(): number } = performance) {
    this.#mode = mode
    this.#known = new LRUCache({ max: maxKnown, ttl: askAgainMs, ttlResolution: 0, perf: time })
  }

  /** Whether it is known to tell tokens. */
  get tellsTokens(): boolean {
    return this.#mode === 'yes' || this.#told
  }

  /** What to send first for a client's request. */
  first(request: ChatRequest): Asked {
    const without = this.#known.get(shapeOf(request))?.without
    const additions = new Set<Addition>()
    const wanted = (addition: Addition): boolean => without?.has(addition) !== true
    if (this.#mode !== 'no') {
      if (wanted('tokens') && request.return_token_ids !== true) additions.add('tokens')
      if (wanted('logprobs') && request.logprobs !== true) additions.add('logprobs')
    }
    if (request.stream === true && wanted('usage') && request.stream_options?.include_usage !== true) {
      additions.add('usage')
    }
    return withAdditions(request, additions)
  }

  /**
   * What to send after a refusal, with fewer additions, at last with none: then the refusal is the client's own.
   * `null` when the refusal has nothing to do with them.
   */
  afterRefusal(request: ChatRequest, asked: Asked, failure: UpstreamError): Asked | null {
    const { status, body } = failure
    if (asked.additions.size === 0 || (status !== null && !doubtful.has(status))) return null
    const said = body === null ? '' : JSON.stringify(body)
    const named = [...asked.additions].filter((addition) => names[addition].test(said))
    if (named.length > 0) return withAdditions(request, less(asked.additions, named))
    if (status === null || namesAnother(body)) return null
    const accepted = this.#known.peek(shapeOf(request))?.accepted === true
    if (status >= 500) return accepted ? null : withAdditions(request, new Set())
    const rest = less(asked.additions, ['tokens'])
    return withAdditions(request, accepted || rest.size === asked.additions.size ? new Set() : rest)
  }

  /** A request was answered after `refused` ones with more additions: those were to blame. */
  accepted(
    request: ChatRequest,
    asked: Asked,
    refused: { readonly asked: Asked; readonly status: number } | null,
  ): void {
    if (refused === null && asked.additions.size === 0) return
    const known = this.#knownOf(request, (refused?.status ?? 0) >= 500 ? doubtMs : askAgainMs)
    if (asked.additions.size > 0) known.accepted = true
    if (refused === null) return
    for (const addition of refused.asked.additions) if (!asked.additions.has(addition)) known.without.add(addition)
  }

  /** A complete answer told tokens, or did not. */
  answered(request: ChatRequest, asked: Asked, toldTokens: boolean): void {
    if (toldTokens) this.#told = true
    else if (this.#mode === 'ask' && asked.additions.has('tokens')) {
      this.#knownOf(request).without.add('tokens').add('logprobs')
    }
  }

  #knownOf(request: ChatRequest, ttl = askAgainMs): Known {
    const shape = shapeOf(request)
    const known = this.#known.peek(shape)
    if (known) return known
    const fresh: Known = { without: new Set(), accepted: false }
    this.#known.set(shape, fresh, { ttl })
    return fresh
  }
}

const shapeOf = ({ model, stream, tools }: ChatRequest): string =>
  `${stream === true ? 's' : '-'}${(tools?.length ?? 0) > 0 ? 't' : '-'}${model}`

/** Whether a refusal says that another field is wrong: OpenAI's `param`. */
function namesAnother(body: UpstreamError['body']): boolean {
  const error = (body as { error?: { param?: unknown } | null } | null)?.error
  return typeof error === 'object' && error !== null && typeof error.param === 'string' && error.param !== ''
}

/** Log-probabilities are of no use without the tokens that they belong to. */
function less(additions: ReadonlySet<Addition>, dropped: Iterable<Addition>): Set<Addition> {
  const rest = new Set(additions)
  for (const addition of dropped) {
    rest.delete(addition)
    if (addition === 'tokens') rest.delete('logprobs')
  }
  return rest
}

function withAdditions(request: ChatRequest, additions: ReadonlySet<Addition>): Asked {
  if (additions.size === 0) return { request, additions }
  return {
    additions,
    request: {
      ...request,
      ...(additions.has('tokens') ? { return_token_ids: true } : {}),
      // vLLM tells no log-probabilities where `top_logprobs` is null; llama.cpp adds twenty alternatives where it is absent.
      ...(additions.has('logprobs') ? { logprobs: true, top_logprobs: request.top_logprobs ?? 0 } : {}),
      ...(additions.has('usage') ? { stream_options: { ...request.stream_options, include_usage: true } } : {}),
    },
  }
}
