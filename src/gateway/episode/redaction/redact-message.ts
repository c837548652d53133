import type { AssistantMessage, Json, Message, ToolDefinition } from '../../../core/index.ts'
import { redactId } from './pseudonym.ts'
import { redactList, redactObject } from './redact-json.ts'
import type { Redacted, Redaction } from './redacted.ts'

type Part = Readonly<Record<string, Json>>

/**
 * A message as it may be written; one without anything to redact is returned as it is. For ids and names of tools stands
 * what is the same wherever they were the same: they tell what belongs together.
 */
export function redactMessage<M extends Message>(message: M, redaction: Redaction): Redacted<M> {
  if (!redaction.active) return { value: message, changed: false }
  const said = message.parts ? redactParts(message.content, message.parts, redaction) : redactText(message, redaction)
  const rest = message.role === 'assistant' ? redactTurn(message, redaction) : redactNames(message, redaction)
  if (!said.changed && !rest.changed) return { value: message, changed: false }
  return { value: { ...message, ...rest.value, ...said.value }, changed: true }
}

function redactText({ content }: Message, redaction: Redaction): Redacted<Pick<Message, 'content'>> {
  const { value, changed } = redaction.redact(content)
  return { value: { content: value }, changed }
}

/**
 * What must not be written may begin in one part and end in another, or be seen only in its own: where the parts and the
 * whole differ, all text becomes one part that both were taken out of.
 */
function redactParts(
  content: string,
  parts: readonly Part[],
  redaction: Redaction,
): Redacted<Pick<Message, 'content' | 'parts'>> {
  const redacted = redactList(parts, (part) => redactObject(part, redaction))
  const whole = redaction.redact(content)
  const joined = redacted.value.flatMap((part) => textOf(part) ?? []).join('')
  if (joined === whole.value) {
    return { value: { content: joined, parts: [...redacted.value] }, changed: redacted.changed || whole.changed }
  }
  const text = redaction.redact(joined).value
  const first = redacted.value.findIndex((part) => textOf(part) !== null)
  const merged = redacted.value.flatMap((part, i) => {
    if (i === first) return [{ ...part, text }]
    return textOf(part) === null ? [part] : []
  })
  return { value: { content: text, parts: merged }, changed: true }
}

const textOf = (part: Part) => (part['type'] === 'text' && typeof part['text'] === 'string' ? part['text'] : null)

function redactTurn(message: AssistantMessage, redaction: Redaction): Redacted<Partial<AssistantMessage>> {
  const calls = redactList(message.toolCalls ?? [], (call) => {
    const made = redactObject(call.arguments, redaction)
    const name = redactId(call.name, redaction)
    const id = call.id === undefined ? null : redactId(call.id, redaction)
    return {
      value: { ...call, name: name.value, arguments: made.value, ...(id && { id: id.value }) },
      changed: made.changed || name.changed || (id?.changed ?? false),
    }
  })
  const malformed = redactList(message.malformedCalls ?? [], (call) => {
    const text = redaction.redact(call.text)
    const problem = redaction.redact(call.problem)
    return { value: { text: text.value, problem: problem.value }, changed: text.changed || problem.changed }
  })
  const reasoning = redaction.redact(message.reasoning ?? '')
  const refusal = redaction.redact(message.refusal ?? '')
  return {
    value: {
      ...(calls.changed ? { toolCalls: [...calls.value] } : {}),
      ...(malformed.changed ? { malformedCalls: [...malformed.value] } : {}),
      ...(reasoning.changed ? { reasoning: reasoning.value } : {}),
      ...(refusal.changed ? { refusal: refusal.value } : {}),
    },
    changed: [calls, malformed, reasoning, refusal].some(({ changed }) => changed),
  }
}

/** Of a user, the name; of a result, the tool and the call that it is of. */
function redactNames(message: Message, redaction: Redaction): Redacted<{ name?: string; toolCallId?: string }> {
  if (message.role === 'tool') {
    const name = redactId(message.name, redaction)
    const id = message.toolCallId === undefined ? null : redactId(message.toolCallId, redaction)
    return {
      value: { name: name.value, ...(id && { toolCallId: id.value }) },
      changed: name.changed || (id?.changed ?? false),
    }
  }
  if (message.role !== 'user' || message.name === undefined) return { value: {}, changed: false }
  const name = redaction.redact(message.name)
  return { value: { name: name.value }, changed: name.changed }
}

/** Tool definitions as they may be written. */
export function redactTools(
  tools: readonly ToolDefinition[],
  redaction: Redaction,
): Redacted<readonly ToolDefinition[]> {
  if (!redaction.active) return { value: tools, changed: false }
  return redactList(tools, (tool) => {
    const name = redactId(tool.name, redaction)
    const description = redaction.redact(tool.description)
    const parameters = redactObject(tool.parameters, redaction)
    return {
      value: { name: name.value, description: description.value, parameters: parameters.value },
      changed: name.changed || description.changed || parameters.changed,
    }
  })
}
