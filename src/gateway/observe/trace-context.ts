import {
  type Context,
  isSpanContextValid,
  propagation,
  ROOT_CONTEXT,
  trace,
  type TextMapGetter,
} from '@opentelemetry/api'

const headersGetter: TextMapGetter<Headers> = {
  get: (headers, name) => headers.get(name) ?? undefined,
  keys: (headers) => [...headers.keys()],
}

/** Later versions may say more after the flags. Version ff is none. */
const pattern = /^(?!ff)(?!00.{53}-)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?$/

/**
 * The trace that a request belongs to, as its headers say. The host program's propagators are asked first; without any,
 * `traceparent` is read as W3C Trace Context defines it, so that the parent is honoured all the same.
 */
export function parentContext(headers: Headers | undefined): Context {
  if (headers === undefined) return ROOT_CONTEXT
  const extracted = propagation.extract(ROOT_CONTEXT, headers, headersGetter)
  if (trace.getSpanContext(extracted)) return extracted
  const header = headers.get('traceparent')
  if (header === null) return extracted
  const [, traceId = '', spanId = '', flags = ''] = pattern.exec(header) ?? []
  const parent = { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true }
  return isSpanContextValid(parent) ? trace.setSpanContext(extracted, parent) : extracted
}
