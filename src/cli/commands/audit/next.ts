import { isCancel, select } from '@clack/prompts'
import pc from 'picocolors'
import { said } from '../../trajectory/said.ts'
import { wrapped } from '../../trajectory/wrap.ts'
import { visible } from '../../../core/index.ts'
import { type AuditFlags, AuditGateway, type Draw } from './audit-gateway.ts'
import { unsourced } from './unsourced.ts'

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
    if (judged !== 'skip' && !(await gateway.judge(draw.id, judged))) {
      process.stdout.write(`${pc.yellow('Others have judged it meanwhile.')}\n`)
    }
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

/** Characters of a tool call that are shown. */
const mostOfCall = 400
/** Before every line that the session says itself: what has none was written here. */
const quote = '│ '

/**
 * A session for people: each message under who said it. No line of it can be taken for one that says who speaks.
 * @param columns of the screen; 0 where it is not known.
 */
export function sessionLines({ id, messages }: Draw, columns: number): string {
  const lines = messages.flatMap(({ role, content, calls, cut }) => [
    '',
    (names[role] ?? pc.bold)(visible(role)),
    ...(content === '' ? [] : [quoted(visible(content), columns)]),
    ...calls.map((call) => pc.dim(quoted(`→ ${said(call, mostOfCall)}`, columns))),
    ...(calls.some((call) => call.length > mostOfCall)
      ? [pc.yellow(`… only the first ${mostOfCall} characters of a call are shown; --json shows more`)]
      : []),
    ...(cut ? [pc.yellow('… only its beginning is shown')] : []),
  ])
  const facts = unsourced(messages).map((fact) => said(fact, 64))
  const hint =
    facts.length === 0
      ? []
      : [
          '',
          pc.yellow('Only the agent says, and neither the person nor a tool before it:'),
          quoted(facts.join(', '), columns),
        ]
  return [pc.dim(`draw ${visible(id)}`), ...lines, ...hint].join('\n')
}

/** No line is wider than the screen, which would begin one of its own with the rest. */
function quoted(text: string, columns: number): string {
  const room = columns - quote.length
  const lines = wrapped(text.replaceAll('\t', '    '), room).split('\n')
  return (room < 2 ? lines : lines.flatMap((line) => pieces(line, room))).map((line) => `${quote}${line}`).join('\n')
}

function pieces(line: string, room: number): readonly string[] {
  const done: string[] = []
  let [piece, width] = ['', 0]
  for (const character of line) {
    // From here on, some are twice as wide.
    const wide = (character.codePointAt(0) ?? 0) >= 0x1100 ? 2 : 1
    if (width + wide > room) {
      done.push(piece)
      piece = ''
      width = 0
    }
    piece += character
    width += wide
  }
  return [...done, piece]
}
