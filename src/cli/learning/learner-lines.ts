import pc from 'picocolors'
import type { LearnerEvent, TrafficEvent } from '../../learn/index.ts'
import { percentOf } from '../../release/index.ts'
import { duration } from '../report/format.ts'
import { visible } from '../visible.ts'

const label = (name: string) => pc.dim(name.padEnd(10))

/** Text from outside, on one line. */
const shown = (text: string) => visible(text).replaceAll('\n', ' ')

/** One line for people about what a learner tells; `null` for what only machines want. */
export function learnerLine(event: LearnerEvent | TrafficEvent): string | null {
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
    case 'looked':
      return `${label('canary')}${event.canary}: ${pc.bold(event.status)}, ${shown(event.reason)}`
    case 'reopened':
      return `${label('audit')}${event.canary}: ${pc.bold('rolled back')}, ${event.release} serves again. ${shown(event.reason)}`
    case 'problem':
      return `${label('problem')}${pc.red(shown(event.message))} ${pc.dim(`[${event.code}, ${event.during}]`)}`
    case 'stopped':
      return `${label('learner')}stopped`
    case 'started':
      return `${label('run')}${event.runId}${event.resumedAt === null ? '' : pc.dim(` from ${event.resumedAt}`)}`
    case 'gathered': {
      const dropped = Object.entries(event.dropped).map(([reason, n]) => `${reason} ${n}`)
      const taught = `${event.demonstrations} demonstrations, ${event.pairs} preferences`
      const vetoed = Object.entries(event.vetoedBy).map(([guard, n]) => `${shown(guard)} ${n}`)
      const refused =
        event.unknownTools > 0 ? pc.yellow(` · refused: ${event.unknownTools} that call unknown tools`) : ''
      const gamed = vetoed.length > 0 ? ` · vetoed: ${vetoed.join(', ')}` : ''
      const left = dropped.length > 0 ? pc.dim(` · left out: ${dropped.join(', ')}`) : ''
      const reward = event.meanReward === null ? '' : `, mean reward ${event.meanReward.toFixed(2)}`
      return `${label('gather')}${event.sessions} of ${event.seen} sessions${reward}, ${taught}${refused}${gamed}${left}`
    }
    case 'anchored':
      return `${label('anchor')}held on to ${event.sequences} sequences at ${event.strength}`
    case 'imitated':
    case 'preferred':
      return `${label(event.type === 'imitated' ? 'imitate' : 'prefer')}pass ${event.pass}/${event.passes}  loss ${event.metrics.loss?.toFixed(3) ?? '?'}  ${pc.dim(duration(event.seconds))}`
    case 'practised':
      return `${label('practise')}epoch ${event.epoch}/${event.epochs}  ratio ${event.divergence.ratio.toFixed(3)}  divergence ${event.divergence.kl.toFixed(4)}  ${pc.dim(duration(event.seconds))}`
    case 'out-of-bounds':
      return `${label('practise')}stops after ${event.epoch} epochs: ratio ${event.divergence.ratio.toFixed(3)}, divergence ${event.divergence.kl.toFixed(4)}`
    case 'measured':
      return `${label('test')}${shown(event.suite)} ${event.arm}: mean reward ${event.meanReward?.toFixed(3) ?? 'none'} ${pc.dim(`n = ${event.n}`)}`
    case 'gated':
      return `${label('gate')}${pc.bold(event.decision)}: ${shown(event.reasons[0] ?? '')}`
    case 'tried':
      return `${label('canary')}${event.canary}: ${percentOf(event.share)} of the sessions get the candidate`
    case 'finished':
      return `${label('finish')}${pc.bold(event.summary.outcome)}: ${shown(event.summary.reason)}`
    case 'learned':
    case 'progress':
      return null
  }
}
