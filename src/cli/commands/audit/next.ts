import { isCancel, select } from '@clack/prompts'
import pc from 'picocolors'
import { said } from '../../trajectory/said.ts'
import { wrapped } from '../../trajectory/wrap.ts'
import { visible } from '../../visible.ts'
import { type AuditFlags, AuditGateway, type Draw } from './audit-gateway.ts'

/**
 * `ratchet audit next`: shows the next session that is to be judged, without what tells its arm. At a terminal it asks for
 * the judgement, and goes on with the session after it until there is none or the reviewer stops.
 */
export async function auditNextCommand(flags: AuditFlags): Promise<void> {
  const gateway = await AuditGateway.of(flags)
  const asks = !flags.json && process.stdin.isTTY && process.stdout.isTTY
  for (let after: string | undefined; ; ) {
    const { draw, ...standing } = await gateway.next(after)
    if (flags.json) {
      process.stdout.write(`${JSON.stringify({ ...standing, draw })}\n`)
      return
    }
    const progress = pc.dim(`${standing.settled} of ${standing.drawn} judged, ${standing.waiting} wait`)
    if (draw === null) {
      process.stdout.write(`${pc.green('✓')} Nothing waits for you. ${progress}\n`)
      return
    }
    process.stdout.write(`${sessionLines(draw, process.stdout.columns ?? 0)}\n${progress}\n`)
    if (!asks) {
      process.stdout.write(
        `\n  npx ratchet audit label ${said(draw.id, 64)} right   ${pc.dim('# or wrong, 0.5, unknown')}\n`,
      )
      return
    }
    const judged = await askFor()
    if (judged === 'stop') return
    if (judged !== 'skip') await gateway.label(draw.id, judged)
    after = judged === 'skip' ? draw.id : undefined
  }
}

type Judged = number | null | 'skip' | 'stop'

async function askFor(): Promise<Judged> {
  const answer = await select<Judged>({
    message: 'Did the agent do what was asked, rightly?',
    options: [
      { value: 1, label: 'right' },
      { value: 0, label: 'wrong' },
      { value: 0.5, label: 'half right' },
      { value: null, label: 'it cannot be told', hint: 'counts as missing' },
      { value: 'skip', label: 'later' },
      { value: 'stop', label: 'stop' },
    ],
  })
  return isCancel(answer) ? 'stop' : answer
}

const names: Readonly<Record<string, (text: string) => string>> = { user: pc.cyan, assistant: pc.bold, tool: pc.dim }

/** A session for people: each message under who said it. */
export function sessionLines({ id, messages }: Draw, columns: number): string {
  const lines = messages.flatMap(({ role, content, calls, cut }) => [
    '',
    (names[role] ?? pc.bold)(visible(role)),
    ...(content === '' ? [] : [wrapped(visible(content), columns)]),
    ...calls.map((call) => pc.dim(`→ ${said(call, 400)}`)),
    ...(cut ? [pc.yellow('… only its beginning is shown')] : []),
  ])
  return [pc.dim(`draw ${visible(id)}`), ...lines].join('\n')
}
