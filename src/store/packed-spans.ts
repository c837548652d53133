import type { SampledSpan, Span } from '../core/index.ts'

/**
 * Log-probabilities of fewer tokens than this stay JSON numbers, which people can read. To write and read a double as
 * decimal digits takes ten times as long as all else that storing a long answer takes.
 */
const fewest = 32
const bytesOfNumber = 8

interface Spoken {
  readonly nodes: readonly { readonly spans: readonly Span[] }[]
}

/**
 * The same record with its long lists of log-probabilities as text: base64 of little-endian float64, and `logprobs` where
 * the behaviour's are the same as those. What {@link unpacked} makes of it is equal, bit for bit.
 */
export function packed(record: Spoken): object {
  const isLong = record.nodes.some(({ spans }) => spans.some(isLongSample))
  if (!isLong) return record
  return { ...record, nodes: record.nodes.map((node) => ({ ...node, spans: node.spans.map(packedSpan) })) }
}

const isLongSample = (span: Span): span is SampledSpan => span.kind === 'sampled' && span.logprobs.length >= fewest

function packedSpan(span: Span): object {
  if (!isLongSample(span)) return span
  const { logprobs, behaviourLogprobs: behaviour } = span
  // What JSON cannot hold is for whoever writes the record to refuse.
  if (!logprobs.every(Number.isFinite) || !(behaviour ?? []).every(Number.isFinite)) return span
  return {
    ...span,
    logprobs: textOf(logprobs),
    behaviourLogprobs: behaviour && (isSame(behaviour, logprobs) ? 'logprobs' : textOf(behaviour)),
  }
}

const isSame = (one: readonly number[], other: readonly number[]) =>
  one.length === other.length && one.every((value, i) => Object.is(value, other[i]))

const textOf = (numbers: readonly number[]) => Buffer.from(Float64Array.from(numbers).buffer).toString('base64')

/** The record that was packed, of one that was read: not checked yet, and what is no packed list stays as it is. */
export function unpacked(record: unknown): unknown {
  for (const node of listIn(record, 'nodes')) {
    for (const span of listIn(node, 'spans')) unpackSpan(span as { logprobs?: unknown; behaviourLogprobs?: unknown })
  }
  return record
}

function unpackSpan(span: { logprobs?: unknown; behaviourLogprobs?: unknown }): void {
  const { logprobs, behaviourLogprobs: behaviour } = span
  if (typeof logprobs !== 'string') return
  span.logprobs = numbersIn(logprobs)
  if (typeof behaviour === 'string') span.behaviourLogprobs = numbersIn(behaviour === 'logprobs' ? logprobs : behaviour)
}

/** A damaged text gives a list of another length, which no span may have. */
function numbersIn(text: string): number[] {
  const bytes = Uint8Array.from(Buffer.from(text, 'base64'))
  const whole = bytes.length - (bytes.length % bytesOfNumber)
  return [...new Float64Array(bytes.buffer, 0, whole / bytesOfNumber)]
}

function listIn(value: unknown, name: string): readonly unknown[] {
  const list =
    typeof value === 'object' && value !== null ? (value as { readonly [name: string]: unknown })[name] : null
  return Array.isArray(list) ? list.filter((item) => typeof item === 'object' && item !== null) : []
}
