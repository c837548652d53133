import pc from 'picocolors'
import type { Decision, Message, ServedBy, Signal, Span, Step, Trajectory, TrajectoryNode } from '../../core/index.ts'
import { lengthOf } from '../when.ts'
import { type CallFacts, callFacts } from './facts.ts'
import { said } from './said.ts'

/** What is shown beside the messages. */
export interface LineOptions {
  /** Every token's id and log-probability; else only their number and mean. */
  readonly tokens: boolean
  /** Which Version of which Parameter decided, with which probability. */
  readonly decisions: boolean
  /** Characters of a message. */
  readonly width: number
}

/** What belongs to one node. */
export interface NodeFacts {
  readonly step: Step | undefined
  readonly decisions: readonly Decision[]
  readonly signals: readonly Signal[]
}

/** One node's lines: who speaks, what is said, how it was sampled, and the evidence about it. */
export function nodeLines(node: TrajectoryNode, facts: NodeFacts, startedAt: number, options: LineOptions): string[] {
  const { step } = facts
  const lines = [`${speaker(node.message, step)}  ${spoken(node.message, options.width)}`]
  if (step?.call) lines.push(pc.dim(callLine(step)))
  for (const span of node.spans) lines.push(...spanLines(span, options))
  for (const { parameter, version, propensity } of options.decisions ? facts.decisions : []) {
    const probability =
      propensity.log === null ? `no propensity: ${propensity.reason}` : `log p ${propensity.log.toFixed(2)}`
    lines.push(pc.dim(`decided by ${said(parameter, 40)} ${version.slice(0, 12)}, ${probability}`))
  }
  for (const signal of facts.signals) lines.push(signalLine(signal, startedAt))
  return lines
}

/** One signal: what, by whom, and how long after the trajectory's start. */
export function signalLine({ name, value, source, reporter, at }: Signal, startedAt: number): string {
  const shown = typeof value === 'number' ? Number(value.toPrecision(3)) : value
  const later = at - startedAt
  const when = later >= 0 ? `${lengthOf(later)} in` : `${lengthOf(-later)} before it began`
  const detail = `${source}, by ${said(reporter, 60)}, ${when}`
  return `${pc.yellow('↳')} ${said(name, 60)} = ${said(typeof shown === 'string' ? shown : JSON.stringify(shown), 160)}  ${pc.dim(detail)}`
}

function speaker(message: Message, step: Step | undefined): string {
  switch (message.role) {
    case 'system':
      return pc.magenta('system')
    case 'user':
      return pc.green(message.name === undefined ? 'user' : `user ${said(message.name, 40)}`)
    case 'assistant':
      return step ? pc.cyan('assistant') : pc.cyan("assistant (the client's own text)")
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
  const { servedModel, upstream, finish, usage, firstTokenMs, totalMs, retryOf } = call
  return [
    `${said(servedModel, 60)} via ${said(upstream, 40)}`,
    finish === null ? 'cut off' : `ended by ${finish}`,
    usage ? `${usage.promptTokens} tokens in, ${usage.completionTokens} out` : 'usage not told',
    `${lengthOf(totalMs)}${firstTokenMs === null ? '' : `, first token after ${lengthOf(firstTokenMs)}`}`,
    ...(retryOf === null ? [] : ['repeats a request']),
  ].join(' · ')
}

function spanLines(span: Span, { tokens }: LineOptions): string[] {
  if (span.kind === 'encoded') {
    const head = pc.dim(`${span.tokens.length} tokens read`)
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
export function headLines(trajectory: Trajectory, now: number): string[] {
  const { id, origin, nodes, stopReason, failure, startedAt, seconds } = trajectory
  const names =
    origin.kind === 'traffic'
      ? [
          origin.session === null ? 'recognised by its messages' : `session ${said(origin.session, 60)}`,
          ...(origin.agent === null ? [] : [`agent ${said(origin.agent, 60)}`]),
          ...(origin.subject === null ? [] : [`subject ${said(origin.subject, 60)}`]),
          `tenant ${origin.tenant}`,
          ...(origin.servedBy === null ? [] : [servedBy(origin.servedBy)]),
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
        `split ${trajectory.task.split}`,
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

/** What answered a session: the release, or an arm of a canary. */
const servedBy = ({ release, canary }: ServedBy): string =>
  canary === null ? `release ${said(release, 16)}` : `${canary.arm} of canary ${said(canary.id, 40)}`
