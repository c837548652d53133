import {
  type CallId,
  type ChatRequest,
  type Decision,
  DecisionId,
  type Json,
  type Message,
  type ModelCall,
  NodeId,
  type ProducedTurn,
  type Step,
  sha256,
  type TrajectoryId,
  type TrajectoryNode,
  type TrajectoryPart,
  type VersionId,
} from '../../core/index.ts'
import type { ShownText } from '../agents/index.ts'
import type { CallEnd } from '../ports.ts'
import { type AnsweredNode, answeredNode, answersIn } from './answer-node.ts'
import { type AttachPoint, attachTo } from './attach.ts'
import { promptShape } from './call-params.ts'
import type { Conversation } from './conversation.ts'
import { type KnownNode, type KnownNodes, pathTo } from './known-nodes.ts'
import { type Redaction, redactId } from './redaction/index.ts'

/** What is known of a call when it begins. */
export interface CallFacts {
  readonly trajectory: TrajectoryId
  readonly call: CallId
  readonly request: ChatRequest
  readonly params: Readonly<Record<string, Json>>
  readonly conversation: Conversation
  /** The Generation of what serves; 0 for an agent without releases. */
  readonly generation: number
  /** Learned texts that the policy reads. */
  readonly texts: readonly ShownText[]
  /** Where it may go on in its trajectory. */
  readonly candidates: readonly AttachPoint[]
  readonly retryOf: CallId | null
  readonly startedAt: number
  /** About how much work it is to go through the request: see `RequestContext`. */
  readonly weight: number
}

/** What making a part takes beside the call. */
export interface PartContext {
  readonly known: KnownNodes
  readonly redaction: Redaction
  /** What decided the answer; `null` where there is none. */
  readonly version: VersionId | null
  /** Whether the upstream may sample by defaults of its own. */
  readonly ownDefaults: boolean
  readonly now: number
}

/** A call as a part of its trajectory, and what there is to know of it once it is committed. */
export interface CallPart {
  readonly part: TrajectoryPart
  /** Of each answer. */
  readonly nodes: readonly NodeId[]
  readonly turns: readonly ProducedTurn[]
  readonly learned: readonly { readonly node: KnownNode; readonly digests: readonly (string | null)[] }[]
}

/**
 * Makes the part that a call adds to its trajectory: the messages that are new, and the answers.
 *
 * The tokens along a branch are exactly what the policy read and sampled, or there are none: the prompt's tokens go on
 * the last new message, as far as the branch does not carry them already, and a branch whose tokens the prompt does not
 * begin with is left where they part. Steps have no `observations`: tool results and what users say next come with later
 * calls, as the nodes under the answer.
 */
export function callPart(facts: CallFacts, end: CallEnd, context: PartContext): CallPart {
  const { trajectory, call, conversation } = facts
  const { answer } = end
  const { known, redaction, now } = context
  const prompt = conversation.redacted ? null : (answer?.promptTokens ?? null)
  const endedAt = Math.max(now, facts.startedAt)
  const read = readNodes(facts, known, prompt)
  const parent = read.path.at(-1) ?? null
  const answered = answersIn(answer?.choices ?? []).map((choice) =>
    answeredNode(choice, {
      call,
      request: facts.request,
      conversation,
      parent,
      unplaced: prompt && read.unplaced,
      promptShape: promptShape(facts.request.model, conversation.tools?.key ?? null, facts.params),
      redaction,
      ownDefaults: context.ownDefaults,
      at: endedAt,
    }),
  )
  const inputs = read.path.slice(-1).map(({ id }) => id)
  const decisions = answered.map(({ node, propensity }, i) =>
    decision(facts, i, context.version, inputs, node.id, propensity),
  )
  const texts = answered.length === 0 ? [] : textDecisions(facts, answered.length, read.path[0]?.id ?? null)
  const { tools } = conversation
  return {
    part: {
      call,
      nodes: [...read.nodes, ...answered.map(({ node }) => node)],
      steps: answered.map((said, i) => {
        const made = [decisions[i], ...(i === 0 ? texts : [])]
        return step(i, said, modelCall(facts, end, said, { index: i, endedAt, redaction }), made)
      }),
      decisions: [...decisions, ...texts].filter((made) => made !== null),
      toolsets:
        tools === null || known.tree(trajectory).toolsets.has(tools.key) ? {} : { [tools.key]: [...tools.definitions] },
      stopReason: end.stopReason,
      failure: end.failure && {
        code: redactId(end.failure.code, redaction).value,
        message: redaction.redact(end.failure.message).value,
      },
      endedAt,
    },
    nodes: answered.map(({ node }) => node.id),
    turns: answered.flatMap(({ turns }) => turns),
    learned: [
      ...read.learned,
      ...answered.map(({ known: node, turns }) => ({ node, digests: turns.map(({ digest }) => digest) })),
    ],
  }
}

interface ReadNodes {
  /** From the root to the last message. */
  readonly path: readonly KnownNode[]
  /** Those that the store does not have. */
  readonly nodes: readonly TrajectoryNode[]
  /** Tokens of the prompt that no message carries. */
  readonly unplaced: readonly number[]
  readonly learned: CallPart['learned']
}

function readNodes(facts: CallFacts, known: KnownNodes, prompt: readonly number[] | null): ReadNodes {
  const { trajectory, candidates, startedAt } = facts
  const { messages, points, opening } = facts.conversation
  const attached = attachTo(candidates, prompt)
  const path: KnownNode[] = [...pathTo(attached.node)]
  const nodes: TrajectoryNode[] = []
  const learned: CallPart['learned'][number][] = []
  if (attached.node) learned.push({ node: attached.node, digests: [points[attached.messages - 1]?.exact ?? null] })
  let unplaced = prompt?.slice(attached.tokens) ?? []
  for (let i = attached.messages; i < messages.length; i += 1) {
    const message = messages[i]
    if (message === undefined) break
    const tokens = i === messages.length - 1 ? unplaced : []
    const parent = path.at(-1) ?? null
    const id = inputNode(parent?.id ?? null, message, tokens)
    const committed = known.node(trajectory, id)
    const node = committed ?? {
      id,
      parent,
      tokens: tokens.length > 0 ? Uint32Array.from(tokens) : null,
      opening,
      answer: null,
      continued: false,
      answered: false,
    }
    if (!committed) {
      const spans: TrajectoryNode['spans'] = tokens.length > 0 ? [{ kind: 'encoded', tokens: [...tokens] }] : []
      nodes.push({ id, parent: parent?.id ?? null, message, spans, at: startedAt })
    }
    if (tokens.length > 0) unplaced = []
    path.push(node)
    learned.push({ node, digests: [points[i]?.exact ?? null] })
  }
  return { path, nodes, unplaced, learned }
}

/**
 * The same message under the same parent, with the same tokens, is one node, whichever process writes it: what calls
 * share is stored once.
 */
function inputNode(parent: NodeId | null, message: Message, tokens: readonly number[]): NodeId {
  return NodeId.parse(`m_${sha256(JSON.stringify([parent, message, tokens])).slice(0, 24)}`)
}

function step(
  index: number,
  { node }: AnsweredNode,
  call: ModelCall,
  made: readonly (Decision | null | undefined)[],
): Step {
  return { index, action: node.id, observations: [], decisions: made.flatMap((one) => (one ? [one.id] : [])), call }
}

/** What the learned texts of a call decided: the system message that it begins with, and what its tools are said to do. */
function textDecisions({ texts, generation }: CallFacts, from: number, system: NodeId | null): readonly Decision[] {
  return texts.map(({ parameter, version }, i) => ({
    id: DecisionId.parse(`d${from + i}`),
    step: 0,
    parameter,
    kind: 'text',
    version,
    generation,
    checkpoint: null,
    inputs: [],
    output: parameter === 'system' ? system : null,
    propensity: { log: null, reason: 'deterministic' },
  }))
}

function decision(
  { generation }: CallFacts,
  index: number,
  version: VersionId | null,
  inputs: readonly NodeId[],
  output: NodeId,
  propensity: Decision['propensity'],
): Decision | null {
  return (
    version && {
      id: DecisionId.parse(`d${index}`),
      step: index,
      parameter: 'model',
      kind: 'weights',
      version,
      generation,
      checkpoint: null,
      inputs: [...inputs],
      output,
      propensity,
    }
  )
}

function modelCall(
  { call, request, params, conversation, startedAt, retryOf }: CallFacts,
  { answer, stopReason }: CallEnd,
  { choice }: AnsweredNode,
  { index, endedAt, redaction }: { readonly index: number; readonly endedAt: number; readonly redaction: Redaction },
): ModelCall {
  const first = answer?.firstTokenAt ?? null
  const named = (name: string) => redactId(name, redaction).value
  return {
    id: call,
    choice: choice.index,
    model: named(request.model),
    upstream: answer?.upstream ?? '',
    servedModel: named(answer?.servedModel ?? ''),
    params: { ...params },
    tools: conversation.tools?.key ?? null,
    finish: choice.finish,
    ...(choice.finish === null && stopReason === 'cancelled' && { cancelled: true as const }),
    // The upstream counts all answers together: on the first, so that sums are right.
    usage: index === 0 ? (answer?.usage ?? null) : null,
    upstreamId: answer?.upstreamId == null ? null : named(answer.upstreamId),
    startedAt,
    firstTokenMs: first === null ? null : Math.max(0, first - startedAt),
    totalMs: endedAt - startedAt,
    retryOf,
  }
}
