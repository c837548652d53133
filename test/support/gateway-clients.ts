import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'
import { readResponseId } from '../../src/gateway/index.ts'
import { ask, type Outcome, type Read, type Wire } from './gateway-ask.ts'

/** A message of a client's history, and the node that its answer must have become. */
interface Told {
  readonly wire: Wire
  readonly node?: string
}

/** What the model says to whoever asks for two answers: so that they can be told apart. */
export const twoAnswers = (said: string): readonly string[] => [`You said: ${said}`, `You also said: ${said}`]

/** One answer that a client holds in its hands. */
export interface Acknowledged {
  /** Words that are in the last message of this request, and of no other. */
  readonly marker: string
  readonly responseId: string
  readonly messages: readonly Told[]
  readonly choices: readonly Read[]
  readonly tokens: number | null
}

/** A stream that broke off. */
export interface CutStream {
  readonly marker: string
  readonly responseId: string
  readonly seen: Extract<Outcome, { kind: 'cut' }>['seen']
  readonly text: string
  readonly at: number
}

/** A signal that the gateway took. */
export interface TakenSignal {
  readonly trajectory: string
  /** No other signal has it. */
  readonly value: number
}

export interface ClientsOptions {
  readonly count: number
  /** Where to ask now; `null` while nobody listens. */
  readonly url: () => string | null
  /** Words of the longest answers. */
  readonly words?: number
  /** Codes of refusals after which they ask again. Default: that it shuts down. */
  readonly patientWith?: readonly string[]
}

/** Clients at work, and what they know. */
export interface Clients {
  readonly acknowledged: Acknowledged[]
  readonly cuts: CutStream[]
  readonly signals: TakenSignal[]
  /** How often they were refused with each code. */
  readonly refusals: Map<string, number>
  /** Requests that were sent, by their markers. */
  readonly asked: Set<string>
  /** What no client should have seen. */
  readonly problems: string[]
  /** Pieces of answers that were read so far. */
  readonly pieces: () => number
  /** Each ends what it is at, once the gateway answers. */
  readonly stop: () => Promise<void>
}

const vocabulary = ['order', 'refund', 'Grüße', '東京', '🙂🙃', 'naïve', '"quoted"', 'back\\slash', 'two\nlines', 'a']
const tools = [
  {
    type: 'function',
    function: { name: 'look_up', description: 'Looks up.', parameters: { type: 'object', properties: {} } },
  },
]

const any = <T>(values: readonly T[]): T => values[Math.floor(Math.random() * values.length)] as T
const chance = (probability: number) => Math.random() < probability
const whole = (below: number) => Math.floor(Math.random() * below)
const say = (role: string, content: string): Told => ({ wire: { role, content } })

/**
 * Agents that talk through the gateway, each one conversation after the other: by session in a header or in the path, or
 * recognised by their messages; streamed or not; with tools, several choices, the Responses API, and signals. What breaks
 * is asked again, under an idempotency key or as SDKs retry, or given up.
 */
export function startClients({
  count,
  url,
  words = 40,
  patientWith = ['gateway/shutting-down'],
}: ClientsOptions): Clients {
  let pieces = 0
  const clients: Omit<Clients, 'stop'> = {
    acknowledged: [],
    cuts: [],
    signals: [],
    refusals: new Map(),
    asked: new Set(),
    problems: [],
    pieces: () => pieces,
  }
  let stopped = false
  const context: Context = {
    ...clients,
    url,
    words,
    patientWith,
    stopped: () => stopped,
    onPiece: () => (pieces += 1),
  }
  const lanes = Array.from({ length: count }, async () => {
    while (!context.stopped()) await conversation(context)
  })
  return {
    ...clients,
    async stop() {
      stopped = true
      await Promise.all(lanes)
    },
  }
}

interface Context extends Omit<Clients, 'stop'> {
  readonly url: () => string | null
  readonly words: number
  readonly patientWith: readonly string[]
  readonly stopped: () => boolean
  readonly onPiece: () => void
}

/** Some answers take long, so that they are cut in their middle. */
const length = (words: number) => (chance(0.06) ? 6 * words : words)
const prose = (most: number) => Array.from({ length: 1 + whole(most) }, () => any(vocabulary)).join(' ')

async function conversation(context: Context): Promise<void> {
  if (chance(0.15)) {
    const marker = randomUUID()
    const content = `${marker} ${prose(length(context.words))}`
    await insist(context, { marker, messages: [say('user', content)], by: 'responses', session: `s-${marker}` })
    return
  }
  const session = chance(0.6) ? `s ${randomUUID()}` : null
  const by = session === null ? 'messages' : any(['header', 'path'] as const)
  const history: Told[] = chance(0.5) ? [say('system', prose(20))] : []
  const turns = 1 + whole(4)
  for (let turn = 0; turn < turns && !context.stopped(); turn++) {
    const marker = randomUUID()
    const calls = chance(0.25) ? `\n!look_up {"of": ${JSON.stringify(prose(3))}}` : ''
    history.push(say('user', `${marker} ${prose(length(context.words))}${calls}`))
    let answered = await insist(context, { marker, messages: [...history], by, session })
    if (answered === null) return
    history.push(answered.message)
    const { tool_calls: made = [] } = answered.message.wire
    if (made.length > 0) {
      const result = randomUUID()
      for (const { id } of made) {
        history.push({ wire: { role: 'tool', tool_call_id: id, content: `${result} ${prose(5)}` } })
      }
      answered = await insist(context, { marker: result, messages: [...history], by, session })
      if (answered === null) return
      history.push(answered.message)
    }
    if (chance(0.7)) await signal(context, session === null ? { response: answered.responseId } : { session })
  }
}

interface Request {
  readonly marker: string
  readonly messages: readonly Told[]
  readonly by: 'header' | 'path' | 'messages' | 'responses'
  readonly session: string | null
}

/** What a client goes on from. */
interface Answered {
  readonly message: Told
  readonly responseId: string
}

/** Asks until there is an answer; `null` when it was given up. */
async function insist(context: Context, request: Request): Promise<Answered | null> {
  const { marker, messages, by, session } = request
  const again = any(['key', 'key', 'retries', 'never'] as const)
  const stream = chance(0.65)
  const n = by !== 'responses' && chance(0.15) ? 2 : 1
  const wires = messages.map(({ wire }) => wire)
  const body =
    by === 'responses'
      ? { model: 'scripted', input: wires, stream }
      : {
          model: 'scripted',
          messages: wires,
          stream,
          ...(n > 1 ? { n } : {}),
          tools,
          ...(stream && chance(0.5) ? { stream_options: { include_usage: true } } : {}),
        }
  context.asked.add(marker)
  for (let retry = 0; ; retry++) {
    const url = await listening(context.url)
    const outcome = await ask({
      url,
      path: `${by === 'path' ? `/s/${encodeURIComponent(session ?? '')}` : ''}/v1/${by === 'responses' ? 'responses' : 'chat/completions'}`,
      headers: {
        ...(session !== null && by !== 'path' ? { 'ratchet-session': session } : {}),
        ...(again === 'key' ? { 'idempotency-key': marker } : {}),
        ...(again === 'retries' ? { 'x-stainless-retry-count': String(retry) } : {}),
      },
      body,
      onPiece: context.onPiece,
    })
    if (outcome.kind === 'acknowledged') return note(context, request, outcome, n)
    if (outcome.kind === 'refused') {
      const { status, code } = outcome
      context.refusals.set(code, (context.refusals.get(code) ?? 0) + 1)
      if (!context.patientWith.includes(code)) context.problems.push(`${marker} was refused: ${status} ${code}`)
    }
    if (outcome.kind === 'cut' && outcome.responseId !== null && stream) {
      const { responseId, seen, at } = outcome
      context.cuts.push({ marker, responseId, seen, at, text: outcome.choices[0]?.content ?? '' })
    }
    if (again === 'never') return null
    await delay(20 + whole(80))
  }
}

function note(
  { acknowledged, problems }: Context,
  { marker, messages }: Request,
  outcome: Outcome,
  n: number,
): Answered | null {
  const { responseId, choices, tokens } = outcome
  const named = responseId === null ? null : readResponseId(responseId)
  if (responseId === null || named === null || choices.length !== n || choices.some(({ finish }) => finish === null)) {
    problems.push(`${marker} has an answer that is none: ${JSON.stringify(outcome)}`)
    return null
  }
  acknowledged.push({ marker, responseId, messages, choices, tokens })
  const at = whole(n)
  const { content, calls } = choices[at] as Read
  return {
    responseId,
    message: {
      wire: {
        role: 'assistant',
        content: content === '' ? null : content,
        ...(calls.length > 0 ? { tool_calls: calls } : {}),
      },
      node: named.node.replace(/_0$/, `_${at}`),
    },
  }
}

const Taken = z.object({ signals: z.array(z.object({ trajectory: z.string(), outcome: z.string() })) })
let values = 0

/** Reports until it was taken. */
async function signal({ url, signals, problems }: Context, about: object): Promise<void> {
  const reports = Array.from({ length: chance(0.2) ? 3 : 1 }, () => ({
    ...about,
    name: 'thumbs',
    value: (values += 1),
    idempotencyKey: randomUUID(),
  }))
  for (;;) {
    try {
      const response = await fetch(`${await listening(url)}/ratchet/signals`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(reports),
      })
      const body: unknown = await response.json()
      if (response.status === 200) {
        for (const [i, { trajectory, outcome }] of Taken.parse(body).signals.entries()) {
          if (outcome === 'capped') problems.push('a signal was capped')
          signals.push({ trajectory, value: reports[i]?.value ?? -1 })
        }
        return
      }
      if (response.status !== 503) problems.push(`a signal was refused: ${response.status} ${JSON.stringify(body)}`)
    } catch {
      // The gateway died: the signal may have been taken or not.
    }
    await delay(20 + whole(80))
  }
}

async function listening(url: () => string | null): Promise<string> {
  for (;;) {
    const now = url()
    if (now !== null) return now
    await delay(10)
  }
}
