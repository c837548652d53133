import pc from 'picocolors'
import type { LearnerEvent, LearnEvent } from '../../learn/index.ts'
import { learnerLine } from './learner-line.ts'
import { label } from './run-line.ts'

/** Shows a run while it goes. */
export interface Progress {
  event(event: LearnEvent | LearnerEvent): void
  /** A line for people; machines do not see it. */
  say(line: string): void
}

/** One JSON object a line: every event but `progress`, and whatever else is told. */
export function jsonProgress(write: (text: string) => void): Progress {
  return {
    event(event) {
      if (event.type !== 'progress' && event.type !== 'finished') write(`${JSON.stringify(event)}\n`)
    },
    say() {},
  }
}

/** Where lines for people go: a stream, or what is like one. */
export interface Terminal {
  write(text: string): unknown
  readonly isTTY?: boolean
  readonly columns?: number
}

/**
 * Prints what a run or a learner tells while it goes, warnings and their hints too, as the command line does:
 * `learn(agent, { …, onEvent: progress() })`.
 * @param out Default: standard error, so that standard output stays the program's own.
 */
export function progress(out: Terminal = process.stderr): (event: LearnEvent | LearnerEvent) => void {
  const lines = terminalProgress(out)
  return (event) => lines.event(event)
}

/** Lines for people; on a terminal also one line that moves, with what is under way. */
export function terminalProgress(out: Terminal): Progress {
  let moving = false
  let lastMove = 0
  const clear = () => {
    if (moving) out.write('\r\u001b[2K')
    moving = false
  }
  const say = (line: string) => {
    clear()
    out.write(`${line}\n`)
  }
  const move = (line: string) => {
    if (!out.isTTY || Date.now() - lastMove < 80) return
    lastMove = Date.now()
    out.write(`\r\u001b[2K${line.slice(0, (out.columns ?? 80) - 1)}`)
    moving = true
  }
  return {
    say,
    event(event) {
      if (event.type === 'progress') {
        const { phase, done, total } = event
        return move(
          `${label(phase.split('/')[0] ?? phase)}${bar(done / total)} ${Math.floor(done)}/${Math.ceil(total)}`,
        )
      }
      const line = learnerLine(event)
      if (line !== null) say(line)
    },
  }
}

function bar(share: number): string {
  const width = 24
  const full = Math.round(Math.min(1, Math.max(0, share)) * width)
  return pc.cyan('━'.repeat(full)) + pc.dim('─'.repeat(width - full))
}
