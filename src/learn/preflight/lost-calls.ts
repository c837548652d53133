import { canonicalJson, type Renderer, type ToolCall } from '../../core/index.ts'
import { told } from './call-findings.ts'
import { counted, type Finding, gravity, quoted } from './finding.ts'
import { turnsOf, type WrittenDemonstration } from './written-demonstration.ts'

/**
 * Calls that the model is not shown as calls: chat templates of models that know no tools leave them out, and others write
 * them in a form that is not read here. What is imitated then calls nothing.
 */
export function lostCalls(
  demonstrations: readonly WrittenDemonstration[],
  renderer: Pick<Renderer, 'name' | 'renderAssistant' | 'parse'>,
): readonly Finding[] {
  const calling = demonstrations.filter(({ messages }) => turnsOf(messages).some(({ message }) => message.toolCalls))
  const lost = calling.flatMap(({ messages, tools = [] }) => {
    const turn = turnsOf(messages).find(({ message }) => {
      const { toolCalls } = message
      return toolCalls && !isSame(toolCalls, renderer.parse(renderer.renderAssistant(message, tools), tools).toolCalls)
    })
    const [call] = turn?.message.toolCalls ?? []
    return call ? [told(call)] : []
  })
  const [example] = lost
  if (example === undefined) return []
  const write = counted(lost.length, calling.length, 'demonstration', ['calls', 'call'])
  return [
    {
      severity: gravity(lost.length, calling.length),
      code: 'learn/lost-calls',
      message: `${write} a tool in a way that the renderer ${quoted(renderer.name)} loses: written for this model, the call does not read back as itself. For example, ${example}.`,
      hint: 'Open the model with the renderer "compact", or take one whose chat template writes tool calls.',
      n: lost.length,
      of: calling.length,
      example,
    },
  ]
}

const isSame = (shown: readonly ToolCall[], read: readonly ToolCall[] = []): boolean => inJson(shown) === inJson(read)

/** Ids are no part of it. */
const inJson = (calls: readonly ToolCall[]): string =>
  canonicalJson(calls.map(({ name, arguments: given }) => [name, given]))
