import { isDeepStrictEqual } from 'node:util'
import {
  messagesOf,
  type Store,
  type Trajectory,
  TrajectoryId,
  type TrajectoryNode,
  type WireMessage,
} from '../../src/core/index.ts'
import { readResponseId } from '../../src/gateway/index.ts'
import { type Acknowledged, type Clients, type CutStream, twoAnswers } from './gateway-clients.ts'
import { allTrajectories, type GatewayPlace, reading } from './gateway-place.ts'

/** How long before its gateway's death a client saw what must be kept of a half answer. Generous: the machine is shared. */
const keptAfterMs = 4_000

/** What a store says of what its clients know. */
export interface Audit {
  /** Whatever is not as it must be. */
  readonly problems: readonly string[]
  /** Half answers that were kept. */
  readonly halves: number
  readonly trajectories: number
}

/** Holds a whole store against all that its clients know, when nothing is under way any more. */
export async function audit(place: GatewayPlace, clients: Clients): Promise<Audit> {
  const stopReasons = await place.stopReasons()
  return reading(place, (store) => auditStore(store, clients, stopReasons))
}

async function auditStore(store: Store, clients: Clients, stopReasons: ReadonlyMap<string, string>): Promise<Audit> {
  const problems = [...clients.problems]
  const records = await allTrajectories(store)
  const trajectories = new Map<string, Trajectory>(records.map(({ trajectory }) => [trajectory.id, trajectory]))
  for (const said of clients.acknowledged) problems.push(...missing(said, trajectories))
  let halves = 0
  for (const cut of clients.cuts) {
    const found = half(cut, trajectories)
    if (typeof found === 'string') problems.push(found)
    else if (found && stopReasons.get(found.call) === 'interrupted') halves += 1
    else if (found && found.finish === null) problems.push(`${cut.marker} is half an answer, and does not say so`)
  }
  const acknowledged = new Set(clients.acknowledged.map(({ marker }) => marker))
  const callsOf = new Map<string, Set<string>>()
  for (const trajectory of trajectories.values()) {
    problems.push(...flaws(trajectory))
    for (const { marker, call } of complete(trajectory)) {
      // All of it may have come, and its gateway died before the commit: then it was not given.
      if (stopReasons.get(call) === 'interrupted') continue
      callsOf.set(marker, (callsOf.get(marker) ?? new Set()).add(call))
    }
  }
  for (const [marker, calls] of callsOf) {
    if (!clients.asked.has(marker)) problems.push(`nobody asked ${marker}`)
    if (calls.size > 1) problems.push(`${marker} was answered ${calls.size} times: ${[...calls].join(' ')}`)
  }
  for (const marker of acknowledged) if (!callsOf.has(marker)) problems.push(`${marker} has no step`)
  problems.push(...(await signalProblems(store, clients)))
  return { problems, halves, trajectories: trajectories.size }
}

/** What of an acknowledged answer is not in the store as its client knows it. */
export function missing(said: Acknowledged, trajectories: ReadonlyMap<string, Trajectory>): readonly string[] {
  const { marker, responseId, messages, choices, tokens } = said
  const named = readResponseId(responseId)
  const trajectory = named && trajectories.get(named.trajectory)
  if (!trajectory) return [`${marker} is in no trajectory: ${responseId}`]
  const nodes = new Map<string, TrajectoryNode>(trajectory.nodes.map((node) => [node.id, node]))
  const problems: string[] = []
  let sampled = 0
  for (const [i, { content, calls }] of choices.entries()) {
    const id = named.node.replace(/_0$/, `_${i}`)
    const node = nodes.get(id)
    const [expected] = messagesOf([{ role: 'assistant', content, tool_calls: calls }])
    if (!node || !isDeepStrictEqual(node.message, expected)) {
      problems.push(`${marker} was told ${JSON.stringify(expected)}, and ${id} is ${JSON.stringify(node?.message)}`)
      continue
    }
    for (const span of node.spans) if (span.kind === 'sampled') sampled += span.tokens.length
    const path: TrajectoryNode[] = []
    for (let at = node.parent; at !== null; at = path[0]?.parent ?? null) path.unshift(nodes.get(at)!)
    const asked = messagesOf(messages.map(({ wire }) => wire as WireMessage))
    const read = path.map(({ message }) => message)
    if (!isDeepStrictEqual(read, asked)) {
      problems.push(`${marker} is not under what was asked: ${JSON.stringify({ read, asked })}`)
    } else if (messages.some(({ node }, i) => node !== undefined && !isOrEquals(path[i], nodes.get(node)))) {
      problems.push(`${marker} is under other answers than those that its client had`)
    }
  }
  if (tokens !== null && tokens !== sampled) problems.push(`${marker} has ${sampled} sampled tokens, of ${tokens}`)
  const steps = trajectory.steps.filter(({ call }) => call?.id === named.call)
  if (steps.length !== choices.length || steps.some(({ decisions }) => decisions.length !== 1)) {
    problems.push(`${marker} has steps ${JSON.stringify(steps)}`)
  }
  return problems
}

/**
 * A gateway may have died between the last word of an answer and its commit: then the same words stand there twice, of
 * the call that was cut and of the one that repeated it, and nobody can tell which of them the client means.
 */
function isOrEquals(node: TrajectoryNode | undefined, meant: TrajectoryNode | undefined): boolean {
  return node?.id === meant?.id || (node?.parent === meant?.parent && isDeepStrictEqual(node?.message, meant?.message))
}

/** What was kept of half an answer, which may have been committed whole; or what is wrong with it. */
function half(
  cut: CutStream,
  trajectories: ReadonlyMap<string, Trajectory>,
): { readonly call: string; readonly finish: string | null } | string | null {
  const { marker, responseId, seen, text, at } = cut
  const named = readResponseId(responseId)
  const trajectory = named && trajectories.get(named.trajectory)
  const node = trajectory?.nodes.find(({ id }) => id === named?.node)
  const must = seen.findLast((piece) => piece.at < at - keptAfterMs)?.length ?? 0
  const kept = node?.message.content ?? ''
  if (kept.length < must) {
    const times = seen.map((piece) => `${piece.length}@${Math.round(piece.at - at)}`).join(' ')
    return `of ${marker} "${text}" was seen (${times}), of that ${must} characters long before, and only "${kept}" was kept`
  }
  if (!kept.startsWith(text) && !text.startsWith(kept)) return `${marker}: "${text}" was seen, and "${kept}" was kept`
  const call = trajectory?.steps.find(({ action }) => action === node?.id)?.call
  return call ? { call: call.id, finish: call.finish } : null
}

/** The calls that came to their end, by the words of the message that they answer. */
function complete(trajectory: Trajectory): readonly { readonly marker: string; readonly call: string }[] {
  const nodes = new Map(trajectory.nodes.map((node) => [node.id, node]))
  return trajectory.steps.flatMap(({ action, call }) => {
    const parent = nodes.get(action)?.parent
    const asked = parent ? nodes.get(parent)?.message.content : undefined
    const [marker = ''] = asked?.split(' ') ?? []
    return call && call.finish !== null ? [{ marker, call: call.id }] : []
  })
}

/** What the scripted upstream answers to a message without tools is known: nothing may be torn, or another's. */
function flaws(trajectory: Trajectory): readonly string[] {
  const { id, nodes, steps, stopReason } = trajectory
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const problems: string[] = []
  for (const { action, call } of steps) {
    const node = byId.get(action)
    const asked = node?.parent ? byId.get(node.parent)?.message : undefined
    const said = node?.message.content ?? ''
    if (said === '' && node?.message.role === 'assistant' && node.message.toolCalls) continue
    const wholes = [`The tool said: ${asked?.content}`, ...twoAnswers(asked?.content ?? '')]
    if (!wholes.some((whole) => (call?.finish === null ? whole.startsWith(said) : said === whole))) {
      problems.push(`${id}: "${asked?.content}" was answered with "${said}" (${call?.finish})`)
    }
  }
  const last = steps.at(-1)?.call
  const expected = last?.finish === null ? ['interrupted'] : ['interrupted', 'done']
  if (!expected.includes(stopReason)) problems.push(`${id} ended as ${stopReason}, with ${JSON.stringify(last)}`)
  return problems
}

async function signalProblems(store: Store, { signals }: Clients): Promise<readonly string[]> {
  const counts = new Map<string, number>()
  for (const trajectory of new Set(signals.map(({ trajectory }) => trajectory))) {
    for (const { value } of await store.signals.of(TrajectoryId.parse(trajectory))) {
      const key = `${trajectory} ${JSON.stringify(value)}`
      counts.set(key, (counts.get(key) ?? 0) + 1)
    }
  }
  return signals.flatMap(({ trajectory, value }) => {
    const count = counts.get(`${trajectory} ${value}`) ?? 0
    return count === 1 ? [] : [`signal ${value} about ${trajectory} is there ${count} times`]
  })
}
