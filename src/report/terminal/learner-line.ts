import pc from 'picocolors'
import type { LearnerEvent, LearnEvent } from '../../learn/index.ts'
import { label, runLine, shown } from './run-line.ts'

/** One line for people about what a learner and its runs tell; `null` for what only machines want. */
export function learnerLine(event: LearnerEvent | LearnEvent): string | null {
  if (!('agent' in event) || event.type === 'started') return runLine(event)
  switch (event.type) {
    case 'leading':
      return `${label('learner')}this process learns for "${shown(event.agent)}"`
    case 'standby':
      return `${label('learner')}another process learns for "${shown(event.agent)}" (${shown(event.holder)}); this one waits`
    case 'lost':
      return `${label('learner')}${pc.yellow('another process learns now')}; this one waits`
    case 'resuming':
      return `${label('learner')}goes on with ${event.run}`
    case 'waiting':
      return `${label('wait')}${pc.dim(shown(event.reason))}`
    case 'learning':
      return `${label('learner')}begins a run: ${shown(event.reason)}`
    case 'watched':
      return `${label('canary')}${event.canary}: ${pc.bold(event.status)}, ${shown(event.reason)}`
    case 'reopened':
      return `${label('audit')}${event.canary}: ${pc.bold('rolled back')}, ${event.release} serves again. ${shown(event.reason)}`
    case 'problem':
      return `${label('problem')}${pc.red(shown(event.message))} ${pc.dim(`[${event.code}, ${event.during}]`)}`
    case 'ended':
      return `${label('learner')}stopped`
    case 'learned':
      return null
  }
}
