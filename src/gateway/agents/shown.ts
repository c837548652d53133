import type { ChatRequest, ParameterName, VersionId } from '../../core/index.ts'
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
}

/**
 * A request with learned texts in the place of the agent's own: the system prompt is the conversation's first message
 * where that is a `system` or `developer` one, and else goes before it; later ones are reminders, and stay. Without any
 * text to show, it is the client's own request, the same object.
 */
export function shownRequest(request: ChatRequest, learned: LearnedTexts): ShownRequest {
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
  return texts.length === 0
    ? { request, texts, inserted: false }
    : { request: { ...request, messages, ...(tools === undefined ? {} : { tools }) }, texts, inserted }
}
