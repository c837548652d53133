import pc from 'picocolors'
import {
  type Decision,
  defaultTenant,
  Demonstrated,
  type Message,
  type ServedBy,
  type Signal,
  type Span,
  type Step,
  type ToolDefinition,
  type Trajectory,
  type TrajectoryNode,
  unofferedTools,
} from '../../core/index.ts'
import { implicitReporter } from '../../reward/index.ts'
import { lengthOf } from '../when.ts'
import { type CallFacts, callFacts } from './facts.ts'
import { said } from './said.ts'

/** What is shown beside the messages. */
export interface LineOptions {
  /** Every token's id and log-probability; else only their number and mean. */
  readonly tokens: boolean
  /** Ids of what served, and which Version of which Parameter decided with which probability. */
  readonly verbose: boolean
  /** Characters of a message. */
  readonly width: number
}

/** What belongs to one node. */
export interface NodeFacts {
  readonly step: Step | undefined
  /** Where what no step said comes from: a client's history, or a program that shows it again. */
  readonly origin: Trajectory['origin']['kind']
  /** Whether the client sent the request of this answer again, and has the other answer. */
  readonly superseded: boolean
  readonly decisions: readonly Decision[]
  /** Tools that the answer could call. */
  readonly offered: readonly ToolDefinition[]
  readonly signals: readonly Signal[]
}

/** One node's lines: who speaks, what is said, how it was sampled, and the evidence about it. */
export function nodeLines(node: TrajectoryNode, facts: NodeFacts, startedAt: number, options: LineOptions): string[] {
  const { step } = facts
  const lines = [`${speaker(node.message, facts)}  ${spoken(node.message, options.width)}`]
  if (step?.call) lines.push(pc.dim(callLine(step)))
  if (facts.superseded)
    lines.push(pc.yellow('does not count: the client sent this request again, and took the other answer'))
  for (const span of node.spans) lines.push(...spanLines(span, options))
  for (const { parameter, version, propensity } of options.verbose ? facts.decisions : []) {
    const probability =
      propensity.log === null ? `no propensity: ${propensity.reason}` : `log p ${propensity.log.toFixed(2)}`
    lines.push(pc.dim(`decided by ${said(parameter, 40)} ${version.slice(0, 12)}, ${probability}`))
  }
  for (const signal of facts.signals) {
    lines.push(signalLine(signal, startedAt))
    const shown = Demonstrated.safeParse(signal.value)
    const unknown = step && shown.success ? unofferedTools(shown.data.messages, facts.offered) : []
    if (unknown.length > 0)
      lines.push(pc.yellow(`not imitated: ${unknown.map((name) => said(name, 60)).join(', ')} was not offered here`))
  }
  return lines
}

/** One signal: what, by whom, and how long after the trajectory's start. */
export function signalLine({ name, value, source, reporter, at }: Signal, startedAt: number): string {
  const shown = typeof value === 'number' ? Number(value.toPrecision(3)) : value
  const later = at - startedAt
  const when = later >= 0 ? `${lengthOf(later)} in` : `${lengthOf(-later)} before it began`
  const detail =
    reporter === implicitReporter ? `a guess from behaviour, ${when}` : `${source}, by ${said(reporter, 60)}, ${when}`
  return `${pc.yellow('↳')} ${said(name, 60)} = ${said(typeof shown === 'string' ? shown : JSON.stringify(shown), 160)}  ${pc.dim(detail)}`
}

function speaker(message: Message, { step, origin }: NodeFacts): string {
  switch (message.role) {
    case 'system':
      return pc.magenta('system')
    case 'user':
      return pc.green(message.name === undefined ? 'user' : `user ${said(message.name, 40)}`)
    case 'assistant':
      if (step) return pc.cyan('assistant')
      return pc.cyan(origin === 'rollout' ? 'assistant (shown again)' : "assistant (the client's own text)")
    case 'tool':
      return pc.blue(`tool ${said(message.name, 60)}${message.isError ? ' failed' : ''}`)
  }
}

function spoken(message: Message, width: number): string {
  const parts = [said(message.content, width)]
  const others = (message.parts ?? [])
    .filter(({ type }) => type !== 'text')
    .map(({ type }) => said(typeof type === 'string' ? type : 'part', 30))
  if (others.length > 0) parts.push(pc.dim(`[${others.join(', ')}]`))
  if (message.role === 'assistant') {
    for (const call of message.toolCalls ?? []) {
      parts.push(`${pc.bold(said(call.name, 60))}(${said(JSON.stringify(call.arguments), width)})`)
    }
    for (const call of message.malformedCalls ?? []) parts.push(pc.red(`unreadable call: ${said(call.text, width)}`))
    if (message.refusal) parts.push(pc.red(`refused: ${said(message.refusal, width)}`))
    if (message.reasoning) parts.push(pc.dim(`thought: ${said(message.reasoning, width)}`))
  }
  return parts.filter((part) => part !== '').join(' ')
}

function callLine({ call }: Step): string {
  if (!call) return ''
  const { servedModel, upstream, finish, cancelled, usage, firstTokenMs, totalMs, retryOf } = call
  return [
    `${said(servedModel, 60)} via ${said(upstream, 40)}`,
    finish === null ? (cancelled ? 'cut off: the client left' : 'cut off before its end') : `ended by ${finish}`,
    usage ? `${usage.promptTokens} tokens in, ${usage.completionTokens} out` : 'usage not told',
    `${lengthOf(totalMs)}${firstTokenMs === null ? '' : `, first token after ${lengthOf(firstTokenMs)}`}`,
    ...(retryOf === null ? [] : ["the client's retry of an earlier request"]),
  ].join(' · ')
}

function spanLines(span: Span, { tokens }: LineOptions): string[] {
  if (span.kind === 'encoded') {
    const head = pc.dim(
      `${span.tokens.length} tokens ${span.forced ? 'forced: another attempt said them, or one act was changed' : 'read'}`,
    )
    return tokens ? [head, pc.dim(span.tokens.join(' '))] : [head]
  }
  const { logprobs, behaviourLogprobs, sampling } = span
  const mean = logprobs.reduce((sum, lp) => sum + lp, 0) / Math.max(1, logprobs.length)
  const how = `temperature ${sampling.temperature}${sampling.truncated ? ', truncated' : ''}${behaviourLogprobs === null ? ', behaviour log-probabilities not told' : ''}`
  const head = pc.dim(`${span.tokens.length} tokens sampled, mean log-probability ${mean.toFixed(3)}, ${how}`)
  if (!tokens) return [head]
  return [head, span.tokens.map((token, i) => `${token}${pc.dim(`:${logprobs[i]?.toFixed(2)}`)}`).join(' ')]
}

/** The trajectory's own facts, above its tree. */
export function headLines(
  trajectory: Trajectory,
  { now, verbose }: { readonly now: number; readonly verbose: boolean },
): string[] {
  const { id, origin, nodes, stopReason, failure, startedAt, seconds } = trajectory
  const names =
    origin.kind === 'traffic'
      ? [
          origin.session === null ? 'recognised by its messages' : `session ${said(origin.session, 60)}`,
          ...(origin.agent === null ? [] : [`agent ${said(origin.agent, 60)}`]),
          ...(origin.subject === null ? [] : [`subject ${said(origin.subject, 60)}`]),
          ...(origin.tenant === defaultTenant ? [] : [`tenant ${origin.tenant}`]),
          ...(origin.servedBy === null ? [] : servedBy(origin.servedBy, verbose)),
          ...(origin.train ? [] : ['not to be learned from']),
        ]
      : origin.kind === 'import'
        ? [`imported from ${said(origin.format, 40)}`, `tenant ${origin.tenant}`]
        : ['a rollout', said(trajectory.task.id, 80)]
  return [
    `${pc.bold(`trajectory ${id}`)}  ${pc.dim(names.join(' · '))}`,
    pc.dim(
      [
        `began ${lengthOf(Math.max(0, now - startedAt))} ago, took ${lengthOf(seconds * 1_000)}`,
        nodes.length === 1 ? '1 message' : `${nodes.length} messages`,
        ...(origin.kind === 'traffic' ? spent(callFacts(trajectory)) : []),
        ...(verbose || origin.kind !== 'traffic' ? [`split ${trajectory.task.split}`] : []),
        `ended: ${stopReason}`,
      ].join(' · '),
    ),
    ...(failure === null ? [] : [pc.red(said(`${failure.code}: ${failure.message}`, 300))]),
  ]
}

/** What an episode took, a fact each. */
export function spent({ models, calls, tokens }: CallFacts): readonly string[] {
  const names = models.slice(0, 3).map((model) => said(model, 60))
  return [
    `${calls === 1 ? '1 call' : `${calls} calls`}${names.length === 0 ? '' : ` of ${names.join(', ')}`}`,
    ...(tokens === null ? [] : [`${tokens.prompt} tokens in, ${tokens.completion} out`]),
  ]
}

/** What answered a session: the arm of a canary where one ran, and by ids only where they are asked for. */
function servedBy({ release, canary }: ServedBy, verbose: boolean): readonly string[] {
  if (canary !== null) return [`${canary.arm} arm of a canary${verbose ? ` (${said(canary.id, 40)})` : ''}`]
  return verbose ? [`release ${said(release, 16)}`] : []
}
