import { z } from 'zod'

/** One message as it travels. */
export interface Wire {
  role: string
  content: string | null
  tool_calls?: WireCall[]
  tool_call_id?: string
}

/** A type, not an interface: it goes where records go. */
export type WireCall = { id: string; type: 'function'; function: { name: string; arguments: string } }

/** What a client has read of one choice. */
export interface Read {
  content: string
  readonly calls: WireCall[]
  finish: string | null
}

/** One request, as a client sends it. */
export interface Question {
  readonly url: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: { readonly stream: boolean; readonly [field: string]: unknown }
  /** Told of each piece of an answer. */
  readonly onPiece?: () => void
}

/**
 * What a client knows of its request in the end.
 * - `acknowledged`: the whole body came with status 200, or the stream's own end did.
 * - `refused`: the gateway said no, in a whole answer or in a stream's error event.
 * - `cut`: the connection broke, or was never made; `seen` is how much of the answer had come at which time.
 */
export type Outcome = {
  readonly responseId: string | null
  readonly choices: readonly Read[]
  /** Completion tokens, where they were told. */
  readonly tokens: number | null
} & (
  | { readonly kind: 'acknowledged' }
  | { readonly kind: 'refused'; readonly status: number; readonly code: string }
  | {
      readonly kind: 'cut'
      readonly at: number
      readonly seen: readonly { readonly at: number; readonly length: number }[]
    }
)

const Usage = z.looseObject({ completion_tokens: z.number() }).nullish()
const Call = z.looseObject({
  index: z.number().default(0),
  id: z.string().optional(),
  function: z.looseObject({ name: z.string().optional(), arguments: z.string().optional() }).optional(),
})
const Delta = z.looseObject({ content: z.string().nullish(), tool_calls: z.array(Call).nullish() })
const Choice = z.looseObject({
  index: z.number(),
  delta: Delta.optional(),
  message: Delta.optional(),
  finish_reason: z.string().nullish(),
})
const Chat = z.looseObject({ id: z.string(), choices: z.array(Choice), usage: Usage })
const OutputItem = z.looseObject({ type: z.string(), content: z.array(z.looseObject({ text: z.string() })).optional() })
const ResponseObject = z.looseObject({ id: z.string(), status: z.string(), output: z.array(OutputItem) })
const Failed = z.looseObject({ error: z.looseObject({ code: z.string().nullish() }) })

/** Asks, and reads the answer for as long as it comes. Never throws. */
export async function ask({ url, path, headers, body, onPiece }: Question): Promise<Outcome> {
  const reading = new Reading(body.stream)
  try {
    const response = await fetch(`${url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
    reading.responseId = response.headers.get('ratchet-response')
    if (response.status !== 200 || !body.stream) return reading.whole(response.status, await response.text())
    let rest = ''
    for await (const piece of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      const events = `${rest}${piece}`.split('\n\n')
      rest = events.pop() ?? ''
      onPiece?.()
      for (const event of events) {
        const over = reading.event(event)
        if (over) return over
      }
    }
    return reading.cut()
  } catch {
    return reading.cut()
  }
}

class Reading {
  responseId: string | null = null
  readonly #stream: boolean
  readonly #choices: Read[] = []
  readonly #seen: { at: number; length: number }[] = []
  #tokens: number | null = null

  constructor(stream: boolean) {
    this.#stream = stream
  }

  whole(status: number, text: string): Outcome {
    const value: unknown = JSON.parse(text)
    if (status !== 200) return this.#refused(status, value)
    this.#take(value)
    return { kind: 'acknowledged', ...this.#said() }
  }

  /** @returns the outcome, when the event is the last one. */
  event(text: string): Outcome | null {
    const data = text
      .split('\n')
      .find((line) => line.startsWith('data: '))
      ?.slice(6)
    if (data === undefined) return null
    if (data === '[DONE]') return { kind: 'acknowledged', ...this.#said() }
    const value = JSON.parse(data) as { readonly type?: string; readonly response?: unknown; readonly error?: unknown }
    // The Responses API says it in an event of its own, too.
    if (value.error) return this.#refused(200, value)
    if (value.type === 'response.completed') {
      this.#take(value.response)
      return { kind: 'acknowledged', ...this.#said() }
    }
    if (value.type === undefined) this.#take(value)
    return null
  }

  cut(): Outcome {
    return { kind: 'cut', at: performance.now(), seen: this.#stream ? this.#seen : [], ...this.#said() }
  }

  #said() {
    return { responseId: this.responseId, choices: this.#choices, tokens: this.#tokens }
  }

  #refused(status: number, value: unknown): Outcome {
    const failed = Failed.safeParse(value)
    const code = failed.success
      ? (failed.data.error.code ?? 'none')
      : `no error: ${JSON.stringify(value).slice(0, 300)}`
    return { kind: 'refused', status, code, ...this.#said() }
  }

  #take(value: unknown): void {
    const response = ResponseObject.safeParse(value)
    if (response.success) {
      this.responseId = response.data.id
      const text = response.data.output.flatMap(({ content = [] }) => content.map((part) => part.text)).join('')
      this.#choices.push({ content: text, calls: [], finish: 'stop' })
      return
    }
    const { id, choices, usage } = Chat.parse(value)
    this.responseId = id
    if (usage) this.#tokens = usage.completion_tokens
    for (const { index, delta, message, finish_reason } of choices) {
      const read = (this.#choices[index] ??= { content: '', calls: [], finish: null })
      const said = delta ?? message
      read.content += said?.content ?? ''
      for (const [i, call] of (said?.tool_calls ?? []).entries()) addCall(read, delta ? call.index : i, call)
      if (finish_reason) read.finish = finish_reason
    }
    this.#seen.push({ at: performance.now(), length: this.#choices[0]?.content.length ?? 0 })
  }
}

function addCall({ calls }: Read, at: number, { id, function: called }: z.infer<typeof Call>): void {
  const known = calls[at] ?? { id: '', type: 'function', function: { name: '', arguments: '' } }
  calls[at] = {
    ...known,
    id: id ?? known.id,
    function: {
      name: called?.name ?? known.function.name,
      arguments: known.function.arguments + (called?.arguments ?? ''),
    },
  }
}
