import { type Message, type ModelCall, type NodeId, partSize, type Trajectory, turns } from '../../core/index.ts'
import { MemoryMade } from '../../agent/index.ts'
import { memoryParameter } from '../agents/index.ts'
import { closedTurn, tokensOf } from './answer-node.ts'
import { promptShape } from './call-params.ts'
import { after, afterLong, beginning, openingOf, type Point } from './conversation.ts'
import type { KnownAnswer, KnownNode, KnownNodes } from './known-nodes.ts'
import type { Recalls } from './recalls.ts'

/**
 * Takes in a trajectory that was read from the store: its nodes, what conversations they end, and what was recalled.
 * @param weight of the trajectory: a heavy one is taken in in parts, and others are served between them.
 */
export async function learnTree(
  known: KnownNodes,
  recalls: Recalls,
  trajectory: Trajectory,
  weight: number,
): Promise<void> {
  const { id, nodes, steps, toolsets, origin } = trajectory
  const shown = learnRecalls(recalls, trajectory)
  const isRecalled = ({ role, content }: Message) => role === 'user' && shown.has(content)
  const calls = new Map(steps.flatMap(({ action, call }) => (call ? [[action, call] as const] : [])))
  const learned = new Map<NodeId, { readonly node: KnownNode; readonly point: Point }>()
  const partOf = weight / Math.max(1, nodes.length)
  let done = 0
  for (const { id: node, parent, message, spans } of nodes) {
    const under = parent === null ? undefined : learned.get(parent)
    done += partOf
    const next = turns.next(done)
    if (next !== null) {
      done = 0
      await next
    }
    const before = under?.point ?? beginning
    const point = weight > partSize ? await afterLong(before, message) : after(before, message)
    const call = calls.get(node)
    const answer =
      call && message.role === 'assistant'
        ? answerOf(
            call,
            point,
            spans.some(({ kind }) => kind === 'sampled'),
          )
        : null
    const fresh: KnownNode = {
      id: node,
      parent: under?.node ?? null,
      tokens: tokensOf(spans),
      opening: isRecalled(message) ? point.exact : (under?.node.opening ?? openingOf([message], [point])),
      answer,
      continued: false,
      answered: false,
    }
    const kept = known.add(id, fresh, [])
    known.bindLatest(id, point.exact, kept)
    if (answer && answer.calls.length > 0 && point.loose !== null) known.bindLatest(id, point.loose, kept)
    learned.set(node, { node: kept, point })
  }
  for (const key of Object.keys(toolsets)) known.addToolset(id, key)
  const tree = known.tree(id)
  tree.complete = true
  if (origin.kind !== 'traffic') return
  if (!origin.train) tree.train = false
  tree.servedBy = origin.servedBy ?? tree.servedBy
  tree.subject = origin.subject ?? tree.subject
}

/** @returns the texts that were recalled: a conversation that has one may have begun by another call than its Decision's. */
function learnRecalls(recalls: Recalls, { id: trajectory, nodes, decisions, origin }: Trajectory): ReadonlySet<string> {
  const shown = new Set<string>()
  const people = new Set([origin.kind === 'traffic' ? origin.subject : null, null])
  // The latest first: one of before may show what was erased since.
  for (const { parameter, kind, version, made, output, propensity } of decisions.toReversed()) {
    if (parameter !== memoryParameter || made === undefined) continue
    const read = MemoryMade.safeParse(made)
    if (!read.success || read.data.did !== 'recall') continue
    const text = nodes.find(({ id }) => id === output)?.message.content ?? null
    if (text !== null) shown.add(text)
    const recall = { kind, version, text, made: read.data, propensity }
    recalls.learn(trajectory, read.data.query, [...people], recall)
  }
  return shown
}

function answerOf({ model, tools, params, finish }: ModelCall, { spoken }: Point, sampled: boolean): KnownAnswer {
  return {
    calls: spoken?.calls ?? [],
    prompt: promptShape(model, tools, params),
    sampled,
    closedTurn: closedTurn(finish, (params['stop'] ?? null) !== null),
  }
}
