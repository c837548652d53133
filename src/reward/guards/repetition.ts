import { canonicalJson, type ToolCall, toolCallsOf, type Trajectory } from '../../core/index.ts'
import { ownTurns, sinceUser } from '../turns.ts'
import type { Guard } from './guard.ts'

/**
 * Vetoes an episode that makes the very same call `times` times or more. In traffic: between two words of the user, one
 * after the other; answers to the same question beside each other (`n` > 1, a retry) repeat nothing.
 */
export function repetition({ times = 3 }: { readonly times?: number } = {}): Guard {
  return {
    name: 'repetition',
    identity: `repetition:${times}`,
    lasting: true,
    inspect(trajectory) {
      for (const calls of stretches(trajectory)) {
        const repeated = repeatedIn(calls, times)
        if (repeated !== null) return `the call "${repeated}" was made ${times} times with the same arguments`
      }
      return null
    },
  }
}

/** Calls that belong together: each path down to where it ends, or to the user's next words. */
function stretches(trajectory: Trajectory): readonly (readonly ToolCall[])[] {
  const turns = ownTurns(trajectory)
  if (trajectory.origin.kind !== 'traffic') return [turns.flatMap(({ message }) => message.toolCalls ?? [])]
  const nodes = new Map(trajectory.nodes.map((node) => [node.id, node]))
  const gone = new Set<string>()
  const found: ToolCall[][] = []
  for (const { node } of turns.toReversed()) {
    if (gone.has(node.id)) continue
    const path = [node, ...sinceUser(nodes, node)]
    for (const { id } of path) gone.add(id)
    found.push(path.flatMap(({ message }) => toolCallsOf(message)))
  }
  return found
}

function repeatedIn(calls: readonly ToolCall[], times: number): string | null {
  const seen = new Map<string, number>()
  for (const call of calls) {
    const key = `${call.name} ${canonicalJson(call.arguments)}`
    const count = (seen.get(key) ?? 0) + 1
    seen.set(key, count)
    if (count >= times) return call.name
  }
  return null
}
