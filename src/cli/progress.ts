import pc from 'picocolors'
import type { LearnEvent, SuccessRate } from '../learn/index.ts'
import { duration, percentRange, success } from './report/format.ts'
import { visible } from './visible.ts'

/** Shows a run while it goes. */
export interface Progress {
  event(event: LearnEvent): void
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

/** Lines for people; on a terminal also one line that moves, with what is under way. */
export function terminalProgress(out: { write(text: string): unknown; isTTY?: boolean; columns?: number }): Progress {
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
      const line = lineOf(event)
      if (line !== null) say(line)
    },
  }
}

const percent = (share: number) => `${Math.round(100 * share)} %`

const label = (name: string) => pc.dim(name.padEnd(10))

function bar(share: number): string {
  const width = 24
  const full = Math.round(Math.min(1, Math.max(0, share)) * width)
  return pc.cyan('━'.repeat(full)) + pc.dim('─'.repeat(width - full))
}

/** A rate with its interval, for example `61% [52–69%]`. */
export function measured(rate: SuccessRate): string {
  return rate.success === null ? 'not measured' : `${success(rate)} ${pc.dim(`[${percentRange(rate.ci)}]`)}`
}

function lineOf(event: Exclude<LearnEvent, { type: 'progress' }>): string | null {
  switch (event.type) {
    case 'started':
      return event.resumedAt === null
        ? `${label('run')}${event.runId} ${pc.dim(`seed ${event.seed}`)}`
        : `${label('resume')}${event.runId} ${pc.dim(`from update ${event.resumedAt}`)}`
    case 'primed': {
      const { pass, passes, metrics, seconds } = event
      return `${label('prime')}pass ${pass}/${passes}  loss ${metrics.loss?.toFixed(3)}  ${pc.dim(duration(seconds))}`
    }
    case 'looked': {
      const { pass, success: rate, informative, diagnosis } = event
      const told = `after pass ${pass}: ${percent(rate)} of attempts succeed, ${percent(informative)} of groups differ`
      return `${label('look')}${told}  ${pc.dim(diagnosis.message)}`
    }
    case 'recovered': {
      const { to, scale, recoveries } = event
      const told = `success collapsed to ${measured(event.rollouts)}: back to update ${to}, steps × ${scale}`
      return `${label('recover')}${pc.yellow(told)}  ${pc.dim(`return ${recoveries}`)}`
    }
    case 'families': {
      const dead = event.families.filter((one) => one.dead)
      if (dead.length === 0) return null
      const named = dead.slice(0, 3).map(({ family }) => `"${visible(family).replaceAll('\n', ' ')}"`)
      const told = `nothing succeeds on ${dead.length} of ${event.families.length}: ${named.join(', ')}${dead.length > 3 ? ', …' : ''}`
      return `${label('families')}${pc.yellow(told)}`
    }
    case 'stopped':
      return `${label('stop')}${pc.yellow(event.message)} ${pc.dim(event.diagnosis.message)}`
    case 'updated': {
      const { update, updates, rollouts, tokensPerSecond, seconds, etaSeconds, reward } = event
      const rate = `${Math.round(tokensPerSecond).toLocaleString('en')} tok/s`
      const time = `${duration(seconds)}, at most ${duration(etaSeconds)} of training left`
      const earned = reward === null ? 'no reward' : `reward ${reward.toFixed(2)}`
      const signal = event.metrics.informativeGroups === undefined ? '' : `  signal ${event.metrics.informativeGroups}`
      return `${label('update')}${String(update).padStart(2)}/${updates}  success ${measured(rollouts)}  ${earned}${signal}  ${pc.dim(`${rate}  ${time}`)}`
    }
    case 'evaluated': {
      const { arm, split, tier, rate } = event
      const what = split === 'validation' ? 'validate' : 'test'
      return `${label(what)}${pc.bold(arm.padEnd(8))} ${visible(tier).replaceAll('\n', ' ')}: ${pc.bold(measured(rate))} ${pc.dim(`n = ${rate.n}`)}`
    }
    case 'gated':
      return `${label('gate')}${pc.bold(event.decision)}: ${event.reasons[0]}`
    case 'released':
      return `${label('release')}${event.release}`
    // Read beside the arms, at the end.
    case 'baseline':
    case 'finished':
      return null
  }
}
