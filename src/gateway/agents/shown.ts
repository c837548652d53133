import {
  type ChatRequest,
  type ParameterName,
  rememberedBy,
  type VersionId,
  type WireMessage,
} from '../../core/index.ts'
import { toolParameter } from './declare.ts'

/** A learned text that stands in the place of the agent's own. */
export interface LearnedText {
  readonly version: VersionId
  readonly text: string
}

/** Learned texts by the Parameters that they are values of: `system`, `tool-NAME`. */
export type LearnedTexts = ReadonlyMap<ParameterName, LearnedText>

/** A learned text that a request's model was shown. */
export interface ShownText {
  readonly parameter: ParameterName
  readonly version: VersionId
}

/** A request as the model is shown it. */
export interface ShownRequest {
  readonly request: ChatRequest
  readonly texts: readonly ShownText[]
  /** Whether a system message was put before the client's first message, which is none. */
  readonly inserted: boolean
  /** Where among its messages stands what was recalled; `null`: nothing was. */
  readonly recalledAt: number | null
}

/**
 * A request with learned texts in the place of the agent's own: the system prompt is the conversation's first message
 * where that is a `system` or `developer` one, and else goes before it; later ones are reminders, and stay. What was recalled
 * goes after those that it begins with, so that the prefix which all sessions share stays as it is. Without anything to
 * show, it is the client's own request, the same object.
 */
export function shownRequest(
  request: ChatRequest,
  learned: LearnedTexts,
  recalled: string | null = null,
): ShownRequest {
  const texts: ShownText[] = []
  const system = learned.get('system')
  const [first, ...rest] = request.messages
  const inserted = system !== undefined && first?.role !== 'system' && first?.role !== 'developer'
  let { messages, tools } = request
  if (system && first) {
    texts.push({ parameter: 'system', version: system.version })
    messages = inserted
      ? [{ role: 'system', content: system.text }, ...messages]
      : [{ role: first.role === 'developer' ? 'developer' : 'system', content: system.text }, ...rest]
  }
  const described = new Set<ParameterName>()
  tools = tools?.map((tool) => {
    const parameter = toolParameter(tool.function.name)
    const text = learned.get(parameter)
    if (!text) return tool
    if (!described.has(parameter)) texts.push({ parameter, version: text.version })
    described.add(parameter)
    return { ...tool, function: { ...tool.function, description: text.text } }
  })
  const recalledAt = recalled === null ? null : prefixOf(messages)
  if (recalled !== null && recalledAt !== null) messages = messages.toSpliced(recalledAt, 0, remembered(recalled))
  return texts.length === 0 && recalledAt === null
    ? { request, texts, inserted: false, recalledAt }
    : { request: { ...request, messages, ...(tools === undefined ? {} : { tools }) }, texts, inserted, recalledAt }
}

/** How many messages a conversation begins with that are the agent's own. */
function prefixOf(messages: readonly WireMessage[]): number {
  const first = messages.findIndex(({ role }) => role !== 'system' && role !== 'developer')
  return first === -1 ? messages.length : first
}

const remembered = (content: string): WireMessage => ({ role: 'user', name: rememberedBy, content })
