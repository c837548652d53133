import type { MalformedCall, Trajectory } from '../../core/index.ts'
import { isWhole, type OwnTurn, ownTurns } from '../turns.ts'
import type { Guard } from './guard.ts'

/**
 * Vetoes an episode with calls that could not be read, or of tools that were not offered: breaking a call must never pay,
 * whatever else was earned.
 */
export function brokenCalls({ allow = 0 }: { readonly allow?: number } = {}): Guard {
  return {
    name: 'broken-calls',
    identity: `broken-calls:${allow}`,
    lasting: true,
    inspect(trajectory) {
      const broken = ownTurns(trajectory).flatMap((turn) => [...brokenIn(turn), ...notOfferedIn(turn, trajectory)])
      return broken.length > allow
        ? `${broken.length} calls could not be carried out, the first: ${broken[0]?.problem}`
        : null
    },
  }
}

/** Calls of a turn that the policy broke. One that was under way when its client left, or its upstream fell, is none. */
function brokenIn(turn: OwnTurn): readonly MalformedCall[] {
  const { malformedCalls = [] } = turn.message
  return isWhole(turn) ? malformedCalls : malformedCalls.filter(({ text }) => !couldGoOn(text))
}

/** Calls of tools that were not offered, where it is known which were. Some servers spell names their own way. */
function notOfferedIn(turn: OwnTurn, { toolsets }: Trajectory): readonly MalformedCall[] {
  const offered = turn.call?.tools ? toolsets[turn.call.tools] : undefined
  if (!offered || !isWhole(turn)) return []
  const names = new Set(offered.map(({ name }) => plain(name)))
  return (turn.message.toolCalls ?? [])
    .filter(({ name }) => !names.has(plain(name)))
    .map(({ name }) => ({ text: name, problem: `No tool "${name.slice(0, 64)}" was offered.` }))
}

const plain = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]/gu, '')

/** Whether the arguments of a call, as `name(arguments)`, may be the beginning of a JSON object. */
function couldGoOn(call: string): boolean {
  const text = call.slice(call.indexOf('(') + 1, call.endsWith(')') ? -1 : undefined).trimStart()
  const open: string[] = []
  let quoted = false
  for (let i = 0; i < text.length; i += 1) {
    const character = text.charAt(i)
    if (quoted) {
      if (character === '\\') i += 1
      else if (character === '"') quoted = false
    } else if (character === '"') {
      if (open.length === 0) return false
      quoted = true
    } else if (character === '{') open.push('}')
    else if (character === '[' && open.length > 0) open.push(']')
    else if (character === '}' || character === ']') {
      if (open.pop() !== character) return false
      // A whole object that nobody could read.
      if (open.length === 0) return false
    } else if (open.length === 0 || !/[\s\d:,.+\-a-z]/iu.test(character)) return false
  }
  return true
}
