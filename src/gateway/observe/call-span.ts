import { type Attributes, type Span, SpanKind, SpanStatusCode, type Tracer } from '@opentelemetry/api'
import type { CallTelemetry, Telemetry } from '../ports.ts'
import { parentContext } from './trace-context.ts'

type CallInfo = Parameters<Telemetry['call']>[0]
type CallOutcome = Parameters<CallTelemetry['end']>[0]

/** Client text in a span's name and attributes is cut here. */
const longest = 256

/**
 * Begins the span of one call of a model, by OpenTelemetry's semantic conventions for generative AI ("Inference"). No
 * message content, no names of sessions or people.
 */
export function startCallSpan(tracer: Tracer, { operation, model, stream, trajectory, headers }: CallInfo): Span {
  const name = model.slice(0, longest)
  const attributes: Attributes = {
    'gen_ai.operation.name': operation,
    'gen_ai.request.model': name,
    'gen_ai.request.stream': stream,
    ...(trajectory !== null && { 'ratchet.trajectory': trajectory, 'gen_ai.conversation.id': trajectory }),
  }
  return tracer.startSpan(`${operation} ${name}`, { kind: SpanKind.CLIENT, attributes }, parentContext(headers))
}

/** Says how the call ended, and ends its span. */
export function endCallSpan(span: Span, outcome: CallOutcome, firstTokenSeconds: number | null): void {
  if (span.isRecording()) {
    span.setAttributes(outcomeAttributes(outcome, firstTokenSeconds))
    const failed = outcome.failure?.code ?? (outcome.status >= 400 ? String(outcome.status) : null)
    if (failed !== null) {
      span.setAttribute('error.type', failed)
      span.setStatus({ code: SpanStatusCode.ERROR })
    }
  }
  span.end()
}

function outcomeAttributes(
  { status, answer, committed, trajectory, responseId }: CallOutcome,
  firstTokenSeconds: number | null,
): Attributes {
  const response = responseId ?? answer?.upstreamId ?? null
  return {
    'http.response.status_code': status,
    ...(trajectory !== undefined && { 'ratchet.trajectory': trajectory, 'gen_ai.conversation.id': trajectory }),
    ...(committed !== null && { 'ratchet.recorded': committed.recorded }),
    ...(firstTokenSeconds !== null && { 'gen_ai.response.time_to_first_chunk': firstTokenSeconds }),
    ...(response !== null && { 'gen_ai.response.id': response.slice(0, longest) }),
    ...(answer && {
      'gen_ai.provider.name': answer.upstream,
      // What the attribute was called before; older back ends read it.
      'gen_ai.system': answer.upstream,
      'gen_ai.response.model': answer.servedModel.slice(0, longest),
      'gen_ai.response.finish_reasons': answer.choices.map(({ finish }) => finish ?? 'error'),
    }),
    ...(answer?.usage && {
      'gen_ai.usage.input_tokens': answer.usage.promptTokens,
      'gen_ai.usage.output_tokens': answer.usage.completionTokens,
      ...(answer.usage.cachedTokens !== null && {
        'gen_ai.usage.cache_read.input_tokens': answer.usage.cachedTokens,
      }),
    }),
  }
}
