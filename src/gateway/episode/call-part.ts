import {
  type Decision,
  DecisionId,
  type ModelCall,
  type NodeId,
  notByChance,
  partSize,
  type ProducedTurn,
  type Step,
  type TrajectoryPart,
  type VersionId,
} from '../../core/index.ts'
import { textKind, weightsKind } from '../../agent/index.ts'
import { memoryParameter } from '../agents/index.ts'
import type { CallEnd } from '../ports.ts'
import { type AnsweredNode, answeredNode, answersIn, recordedMessage, type Said } from './answer-node.ts'
import type { CallFacts } from './call-facts.ts'
import { promptShape } from './call-params.ts'
import { after, afterLong, beginning } from './conversation.ts'
import type { KnownNodes } from './known-nodes.ts'
import { type LearnedNode, type ReadNodes, readNodes } from './read-nodes.ts'
import { type Redaction, redactId } from './redaction/index.ts'

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
  readonly learned: readonly LearnedNode[]
}

/**
 * Makes the part that a call adds to its trajectory: the messages that are new, and the answers.
 *
 * The tokens along a branch are exactly what the policy read and sampled, or there are none: the prompt's tokens go on
 * the last new message, as far as the branch does not carry them already, and a branch whose tokens the prompt does not
 * begin with is left where they part. Steps have no `observations`: tool results and what users say next come with later
 * calls, as the nodes under the answer.
 */
export async function callPart(facts: CallFacts, end: CallEnd, context: PartContext): Promise<CallPart> {
  const { conversation, weight } = facts
  const { answer } = end
  const { known, redaction } = context
  const prompt = conversation.redacted ? null : (answer?.promptTokens ?? null)
  const read = await readNodes(facts, known, prompt)
  const choices = answersIn(answer?.choices ?? [])
  const messages = await redaction.reading((by) => choices.map((choice) => recordedMessage(choice, by)))
  const last = conversation.points.at(-1) ?? beginning
  const isLong = weight + (answer?.weight ?? 0) > partSize
  const said: Said[] = []
  for (const [i, choice] of choices.entries()) {
    const message = messages[i]
    if (message === undefined) break
    const point = isLong ? await afterLong(last, message.value) : after(last, message.value)
    said.push({ choice, message, point })
  }
  return redaction.reading((by) => assembled(facts, end, { ...context, redaction: by }, { read, prompt, said }))
}

/** Puts together what was read and said. */
function assembled(
  facts: CallFacts,
  end: CallEnd,
  { known, redaction, now, version, ownDefaults }: PartContext,
  {
    read,
    prompt,
    said,
  }: { readonly read: ReadNodes; readonly prompt: readonly number[] | null; readonly said: readonly Said[] },
): CallPart {
  const { trajectory, call, conversation } = facts
  const endedAt = Math.max(now, facts.startedAt)
  const answered = said.map((one) =>
    answeredNode(one, {
      call,
      request: facts.request,
      conversation,
      parent: read.path.at(-1) ?? null,
      unplaced: prompt && read.unplaced,
      promptShape: promptShape(facts.request.model, conversation.tools?.key ?? null, facts.params),
      ownDefaults,
      at: endedAt,
    }),
  )
  const inputs = read.path.slice(-1).map(({ id }) => id)
  const decisions = answered.map(({ node, propensity }, i) => decision(facts, i, version, inputs, node.id, propensity))
  const beside = answered.length === 0 ? [] : decidedBeside(facts, answered.length, read.path)
  const { tools } = conversation
  return {
    part: {
      call,
      nodes: [...read.nodes, ...answered.map(({ node }) => node)],
      steps: answered.map((one, i) => {
        const made = [decisions[i], ...(i === 0 ? beside : [])]
        return step(i, one, modelCall(facts, end, one, { index: i, endedAt, redaction }), made)
      }),
      decisions: [...decisions, ...beside].filter((made) => made !== null),
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

function step(
  index: number,
  { node }: AnsweredNode,
  call: ModelCall,
  made: readonly (Decision | null | undefined)[],
): Step {
  return { index, action: node.id, observations: [], decisions: made.flatMap((one) => (one ? [one.id] : [])), call }
}

/** What was decided for a call beside its answers: what it read of learned texts, and what was recalled for it. */
function decidedBeside(facts: CallFacts, from: number, path: ReadNodes['path']): readonly Decision[] {
  const texts = textDecisions(facts, from, path[0]?.id ?? null)
  const recalled = recallDecision(facts, from + texts.length, path)
  return recalled ? [...texts, recalled] : texts
}

/** `null` where another call writes it. */
function recallDecision(
  { call, recalled, generation }: CallFacts,
  index: number,
  path: ReadNodes['path'],
): Decision | null {
  if (recalled === null || recalled.recall.writtenBy !== call) return null
  const { kind, version, made, propensity } = recalled.recall
  return {
    id: DecisionId.parse(`d${index}`),
    step: 0,
    parameter: memoryParameter,
    kind,
    version,
    generation,
    checkpoint: null,
    made,
    inputs: [],
    output: recalled.at === null ? null : (path[recalled.at]?.id ?? null),
    propensity,
  }
}

/** What the learned texts of a call decided: the system message that it begins with, and what its tools are said to do. */
function textDecisions({ texts, generation }: CallFacts, from: number, system: NodeId | null): readonly Decision[] {
  return texts.map(({ parameter, version }, i) => ({
    id: DecisionId.parse(`d${from + i}`),
    step: 0,
    parameter,
    kind: textKind.kind,
    version,
    generation,
    checkpoint: null,
    inputs: [],
    output: parameter === 'system' ? system : null,
    propensity: notByChance,
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
      kind: weightsKind.kind,
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
