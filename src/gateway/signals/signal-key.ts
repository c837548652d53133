import {
  canonicalJson,
  contentHash,
  type Json,
  type KeyId,
  type Signal,
  type SignalRepository,
} from '../../core/index.ts'

/** A signal before it is known what makes it the same signal. */
export type UnkeyedSignal = Omit<Signal, 'key'>

/**
 * What makes a signal the same as one that came before, where the client gave neither a key of its own nor a time: that
 * the same reporter says the same as they said last of the same thing. So a thumbs-down that is clicked, or sent, twice
 * is one; and who changes their mind, and changes it back, has said three things. Each key is made from the one before,
 * so that the same request sent twice at once makes the same keys.
 */
export class LastSaid {
  readonly #signals: Pick<SignalRepository, 'last'>
  readonly #last = new Map<string, { readonly key: string; readonly value: string | null; readonly at: number }>()
  readonly #read = new Set<string>()

  constructor(signals: Pick<SignalRepository, 'last'>) {
    this.#signals = signals
  }

  /** Reads what was said last of what these speak of: what was said before that, or of anything else, costs nothing. */
  async read(signals: readonly UnkeyedSignal[]): Promise<void> {
    for (const signal of signals) {
      const of = topicOf(signal)
      const { tenant, trajectory, node, source, reporter, name } = signal
      // Of several of one topic, the first follows on what was said before, and the others on that.
      if (this.#read.has(of)) continue
      this.#read.add(of)
      const bytes = Buffer.byteLength(JSON.stringify(signal.value))
      const last = await this.#signals.last({ tenant, trajectory, node, source, reporter, name }, bytes)
      if (last === null) continue
      const value = last.value === undefined ? null : contentHash(last.value)
      this.#last.set(of, { key: last.key, value, at: last.at })
    }
  }

  /** Remembers a signal as the last of its kind, unless something later is known. */
  note(signal: Signal): void {
    const of = topicOf(signal)
    if (signal.at < (this.#last.get(of)?.at ?? signal.at)) return
    this.#last.set(of, { key: signal.key, value: contentHash(signal.value), at: signal.at })
  }

  keyOf(signal: UnkeyedSignal): string {
    const last = this.#last.get(topicOf(signal))
    if (last && last.value === contentHash(signal.value)) return last.key
    return contentHash(['said', ...topic(signal), signal.value, last?.key ?? null])
  }
}

/** The key of a signal for which the client has one: its own, so that no other client can use it up. */
export function keyOfClient(client: KeyId, idempotencyKey: string): string {
  return contentHash(['client', client, idempotencyKey])
}

/** The key of a signal that says when it happened: what happens at another time is another event. */
export function keyOfMoment(signal: UnkeyedSignal): string {
  return contentHash(['moment', ...topic(signal), signal.value, signal.at])
}

/** What is being said something of, by whom. */
function topic({ tenant, trajectory, node, source, reporter, name }: UnkeyedSignal): readonly Json[] {
  return [tenant, trajectory, node, source, reporter, name]
}

const topicOf = (signal: UnkeyedSignal) => canonicalJson(topic(signal))
