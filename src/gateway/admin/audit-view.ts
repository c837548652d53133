import { z } from 'zod'
import type { Audit, AuditDraw, Message, Trajectory } from '../../core/index.ts'
import { countingLabels, truthOf } from '../../gate/index.ts'
import { Trust } from '../../reward/index.ts'
import type { ShownDraws } from './audit-shown.ts'

/** Characters of one message and of all together that a reviewer is shown. */
const mostOfMessage = 20_000
const mostOfAll = 200_000

/** A message as a reviewer sees it. */
export const ReviewedMessage = z.object({
  role: z.enum(['user', 'assistant', 'tool']),
  content: z.string(),
  /** Tools that the agent called, with their arguments as JSON. */
  calls: z.array(z.string()),
  /** Whether only the beginning of what it says or calls is here, or it is the last that is here of more. */
  cut: z.boolean(),
})
export type ReviewedMessage = z.infer<typeof ReviewedMessage>

/**
 * A session as whoever judges it may see it: what was said and done, and nothing that tells its arm. System messages may be
 * what is tried, and ids, versions and times would let the session be looked up.
 */
export function blind({ nodes }: Pick<Trajectory, 'nodes'>): readonly ReviewedMessage[] {
  const shown: ReviewedMessage[] = []
  let room = mostOfAll
  for (const { message } of nodes) {
    if (message.role === 'system') continue
    const last = shown.at(-1)
    if (room <= 0 && last) {
      shown.splice(-1, 1, { ...last, cut: true })
      break
    }
    const text = textOf(message)
    const content = text.slice(0, Math.min(mostOfMessage, room))
    const called = callsOf(message)
    const calls = called.map((call) => call.slice(0, mostOfMessage))
    room -= content.length + calls.reduce((sum, call) => sum + call.length, 0)
    const cut = content.length < text.length || called.some(({ length }) => length > mostOfMessage)
    shown.push({ role: message.role, content, calls, cut })
  }
  return shown
}

function textOf(message: Message): string {
  return message.role === 'assistant'
    ? [message.content, message.refusal ?? ''].filter(Boolean).join('\n')
    : message.content
}

function callsOf(message: Message): readonly string[] {
  if (message.role !== 'assistant') return []
  const read = (message.toolCalls ?? []).map(({ name, arguments: given }) => `${name} ${JSON.stringify(given)}`)
  return [...read, ...(message.malformedCalls ?? []).map(({ text }) => text)]
}

/** Labels of one draw, and of one voice among them: names that a key makes up cost nothing, and all are read at each look. */
const mostLabels = 16
const mostOfVoice = 4

/**
 * Why a reviewer may not label a draw; `null` where they may. What is settled stays as it is, but for who settled it: whoever
 * comes later would move what others said.
 */
export function closedFor(draw: AuditDraw, audit: Audit, reviewer: string, now: number): 'settled' | 'full' | null {
  const labels = countingLabels(draw.labels, audit)
  if (labels.some((label) => label.reviewer === reviewer)) return null
  if (truthOf(draw, audit, now).settled) return 'settled'
  const trust = new Trust(audit.trusted)
  const voice = trust.voiceOf(reviewer)
  const own = labels.filter((label) => trust.voiceOf(label.reviewer) === voice)
  return labels.length >= mostLabels || own.length >= mostOfVoice ? 'full' : null
}

/**
 * The first draw that waits and that this reviewer has said nothing of, under no name of theirs: the gate takes sessions in
 * the order in which they began, so that each label counts at once. Draws that as many others are at as it needs come last.
 * @param after a draw that is to be passed over, with all before it.
 */
export function nextFor(
  draws: readonly AuditDraw[],
  audit: Audit,
  { reviewer, after, now, shown }: AskingForNext,
): AuditDraw | null {
  const passed = after === undefined ? -1 : draws.findIndex(({ id }) => id === after)
  const trust = new Trust(audit.trusted)
  const voice = trust.voiceOf(reviewer)
  const open = draws.slice(passed + 1).filter((draw) => {
    const own = countingLabels(draw.labels, audit).some((label) => trust.voiceOf(label.reviewer) === voice)
    return !own && closedFor(draw, audit, reviewer, now) === null
  })
  const free = open.find((draw) => {
    const judged = countingLabels(draw.labels, audit).map((label) => label.reviewer)
    return shown.others(draw.id, new Set([reviewer, ...judged]), now) < truthOf(draw, audit, now).needs
  })
  return free ?? open[0] ?? null
}

interface AskingForNext {
  readonly reviewer: string
  readonly after?: string | undefined
  readonly now: number
  readonly shown: Pick<ShownDraws, 'others'>
}
