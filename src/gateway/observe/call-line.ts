import type { CallTelemetry, Telemetry } from '../ports.ts'

type CallInfo = Parameters<Telemetry['call']>[0]
type CallOutcome = Parameters<CallTelemetry['end']>[0]

/** Client text in the log is cut here. */
const longest = 128

/**
 * What the log says of one call. No content, no names of sessions, agents or people, and of a failure its code alone: its
 * message may quote what an upstream or a client said.
 */
export function callLine(
  { operation, model, stream, caller, trajectory }: CallInfo,
  outcome: CallOutcome,
  { ms, firstTokenMs }: { readonly ms: number; readonly firstTokenMs: number | null },
): Readonly<Record<string, unknown>> {
  const { status, answer, failure, committed, commitMs, responseId } = outcome
  return {
    operation,
    model: model.slice(0, longest),
    stream,
    status,
    ms: rounded(ms),
    ...(firstTokenMs !== null && { firstTokenMs: rounded(firstTokenMs) }),
    ...(commitMs !== undefined && { commitMs: rounded(commitMs) }),
    ...(answer && { upstream: answer.upstream, servedModel: answer.servedModel.slice(0, longest) }),
    ...(answer?.usage && { inputTokens: answer.usage.promptTokens, outputTokens: answer.usage.completionTokens }),
    ...(answer && { finish: answer.choices.map(({ finish }) => finish) }),
    tenant: caller.tenant,
    key: caller.key,
    trajectory: outcome.trajectory ?? trajectory,
    ...(responseId !== undefined && { response: responseId }),
    ...(committed && { recorded: committed.recorded }),
    ...(failure && { failure: failure.code }),
  }
}

const rounded = (ms: number) => Math.round(ms * 10) / 10
