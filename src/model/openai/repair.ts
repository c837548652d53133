import { WireUsage } from '../../core/index.ts'

/**
 * What careless servers leave out, put in where nothing is guessed: `id` is empty, `model` the one that was asked for,
 * `created` now, and a usage that tells nothing is none. Used only for what does not parse as it is. Seen at OpenVINO (no
 * `id`), proxies (`created: null`, `usage: {}`) and Gemini (tool calls of a stream without `index`).
 */
export class Repair {
  readonly #model: string
  /** For each choice: the places of its tool calls by id, and the place of the last one. */
  readonly #calls = new Map<unknown, { readonly places: Map<string, number>; last: number }>()

  constructor(model: string) {
    this.#model = model
  }

  /** A chunk or a completion, as far as it can be mended; `undefined` for what is neither. */
  mend(value: unknown): unknown {
    if (!isRecord(value) || !Array.isArray(value.choices)) return undefined
    return {
      ...value,
      id: value.id ?? '',
      created: value.created ?? Math.floor(Date.now() / 1_000),
      model: value.model ?? this.#model,
      usage: WireUsage.safeParse(value.usage).success ? value.usage : null,
      choices: value.choices.map((choice: unknown, i) => this.#choice(choice, i)),
    }
  }

  #choice(choice: unknown, place: number): unknown {
    if (!isRecord(choice)) return choice
    const index = choice.index ?? place
    if (!('delta' in choice)) return { ...choice, index }
    const delta = choice.delta ?? {}
    if (!isRecord(delta) || !Array.isArray(delta.tool_calls)) return { ...choice, index, delta }
    const tool_calls = delta.tool_calls.map((call: unknown) => this.#call(index, call))
    return { ...choice, index, delta: { ...delta, tool_calls } }
  }

  /** A call with an id of its own, or a name, begins; what has neither goes on with the last. */
  #call(choice: unknown, call: unknown): unknown {
    if (!isRecord(call)) return call
    const calls = this.#calls.get(choice) ?? { places: new Map<string, number>(), last: -1 }
    this.#calls.set(choice, calls)
    const id = typeof call.id === 'string' ? call.id : ''
    const named = isRecord(call.function) && Boolean(call.function.name)
    if (call.index !== undefined && call.index !== null && typeof call.index !== 'number') return call
    const begins = calls.last < 0 || id !== '' || named
    const index = call.index ?? calls.places.get(id) ?? (begins ? calls.last + 1 : calls.last)
    if (id !== '') calls.places.set(id, index)
    calls.last = Math.max(calls.last, index)
    return { ...call, index }
  }
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
