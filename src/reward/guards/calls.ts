import {
  isUsers,
  type Json,
  type NodeId,
  type ToolDefinition,
  type Trajectory,
  type TrajectoryNode,
} from '../../core/index.ts'
import { reportsError } from '../implicit/words.ts'
import { isUnspaced, termsOf } from '../text/index.ts'
import { before, type OwnTurn, sinceUser } from '../turns.ts'

export type Nodes = ReadonlyMap<NodeId, TrajectoryNode>

/** A tool call since the user spoke, and what it may have to do with it. */
interface Made {
  readonly name: string
  /** Its arguments, as text. */
  readonly given: string
}

/**
 * Words that tools and tasks are compared by: whatever holds a digit, the beginnings of words of four letters and more, and
 * pairs of characters where words have no blanks between them.
 */
function themes(texts: readonly string[]): ReadonlySet<string> {
  const found = new Set<string>()
  for (const text of texts) {
    const words = text
      .slice(0, read)
      .replaceAll('_', ' ')
      .replaceAll(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
      .toLowerCase()
    for (const [named] of words.matchAll(/[\p{L}\p{N}]+/gu)) if (/\p{N}/u.test(named)) found.add(named)
    for (const term of termsOf(words)) {
      const first = String.fromCodePoint(term.codePointAt(0) ?? 0)
      if (isUnspaced(first) && term !== first) found.add(term)
      else if (term.length >= 4 && !/\p{N}/u.test(term)) found.add(term.slice(0, 5))
    }
  }
  return found
}

const read = 2_000
/** Calls and results that are compared with a task, the latest: who made more did something. */
const mostMade = 16
/** What users said is looked back over so far. */
const mostAsked = 8

const meets = (a: ReadonlySet<string>, b: ReadonlySet<string>): boolean => [...a].some((word) => b.has(word))

/**
 * Whether a turn did something since the user spoke. A call does, unless it plainly has nothing to do with it: where it is
 * known which tools were offered, a call is none that shares no word with the task or with the turn, in its name, its
 * description or its arguments, while a tool that was not called shares one. So one idle call stands for no deed.
 */
export function acts(turn: OwnTurn, nodes: Nodes, trajectory: Trajectory): boolean {
  const path = sinceUser(nodes, turn.node)
  const calls = callsOf([turn.node, ...path])
  if (calls.length === 0) return path.some(({ message }) => message.role === 'tool')
  if (calls.length > mostMade) return true
  const offered = turn.call?.tools ? trajectory.toolsets[turn.call.tools] : undefined
  if (!offered) return true
  const task = themes([turn.message.content, ...asked(turn, nodes)])
  const ofTask = (tool: ToolDefinition) =>
    meets(task, themes([tool.name, tool.description, ...Object.keys(propertiesOf(tool))]))
  const called = new Set(calls.map(({ name }) => name))
  const serves = calls.some((call) => meets(task, themes([call.name, call.given])))
  if (serves || offered.some((tool) => called.has(tool.name) && ofTask(tool))) return true
  return !offered.some((tool) => !called.has(tool.name) && ofTask(tool))
}

/**
 * Whether a question came of what tools found since the user spoke: it tells something of what they found, which its user
 * cannot see; or they were asked about what the user named, and found nothing of it.
 */
export function wasRaised(turn: OwnTurn, nodes: Nodes): boolean {
  const path = sinceUser(nodes, turn.node)
  const found = path.flatMap(({ message }) => (message.role === 'tool' ? [message.content] : []))
  const results = found.slice(0, mostMade)
  if (results.length === 0) return false
  const known = themes(asked(turn, nodes))
  const told = themes([turn.message.content])
  if ([...themes(results)].some((word) => told.has(word) && !known.has(word))) return true
  const soughtIt = meets(
    themes(
      callsOf(path)
        .slice(0, mostMade)
        .map((call) => call.given),
    ),
    known,
  )
  return soughtIt && results.every((result) => reportsError(result) || !meets(themes([result]), known))
}

function callsOf(path: readonly TrajectoryNode[]): readonly Made[] {
  return path.flatMap(({ message }) =>
    message.role === 'assistant'
      ? (message.toolCalls ?? []).map((call) => ({ name: call.name, given: valuesOf(call.arguments) }))
      : [],
  )
}

/** What stands in a call's arguments, without their names. */
function valuesOf(given: Json): string {
  if (Array.isArray(given)) return given.map(valuesOf).join(' ')
  return typeof given === 'object' && given !== null ? valuesOf(Object.values(given)) : String(given ?? '')
}

function propertiesOf({ parameters }: ToolDefinition): object {
  const { properties } = parameters as { readonly properties?: unknown }
  return typeof properties === 'object' && properties !== null ? properties : {}
}

function asked({ node }: OwnTurn, nodes: Nodes): readonly string[] {
  const said = before(nodes, node).flatMap(({ message }) => (isUsers(message) ? [message.content] : []))
  return said.slice(0, mostAsked)
}
