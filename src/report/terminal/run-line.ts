import pc from 'picocolors'
import { broughtInWords } from '../../gate/index.ts'
import type { LearnEvent, SuccessRate } from '../../learn/index.ts'
import { percentOf } from '../../release/index.ts'
import { duration, percentRange, success } from '../format.ts'
import { visible } from '../../core/index.ts'

/** What a line is about. */
export const label = (name: string) => pc.dim(name.padEnd(10))

/** Text from outside, on one line. */
export const shown = (text: string) => visible(text).replaceAll('\n', ' ')

const percent = (share: number) => `${Math.round(100 * share)} %`

/** A rate with its interval, for example `61% [52–69%]`. */
export function measured(rate: SuccessRate): string {
  return rate.success === null ? 'not measured' : `${success(rate)} ${pc.dim(`[${percentRange(rate.ci)}]`)}`
}

/** One line for people about what a run tells, whatever it learns from; `null` for what is told elsewhere. */
export function runLine(event: LearnEvent): string | null {
  switch (event.type) {
    case 'started':
      return event.resumedAt === null
        ? `${label('run')}${event.runId} ${pc.dim(`seed ${event.seed}`)}`
        : `${label('resume')}${event.runId} ${pc.dim(`from ${typeof event.resumedAt === 'number' ? 'update ' : ''}${event.resumedAt}`)}`
    case 'primed': {
      const { pass, passes, metrics, seconds } = event
      return `${label('prime')}pass ${pass}/${passes}  loss ${metrics.loss?.toFixed(3)}  ${pc.dim(duration(seconds))}`
    }
    case 'found':
      return `${label('check')}${pc.yellow(visible(event.message))} ${pc.dim(event.hint)}`
    case 'agreed':
      return `${label('agree')}${pc.dim(`${event.adapter} serves what is trained: ${event.tokens} tokens, log-probabilities within ${event.furthest.toExponential(1)}`)}`
    case 'began-from': {
      const told = event.scores.map(({ name, logprob }) => `${shown(name ?? 'as it serves')} ${logprob.toFixed(3)}`)
      return `${label('begin')}${pc.bold(shown(event.adapter ?? 'as it serves'))}  ${pc.dim(`log-probability of a demonstrated token: ${told.join(', ')}`)}`
    }
    case 'looked': {
      const { pass, success: rate, informative, diagnosis } = event
      const told = `after pass ${pass}: ${percent(rate)} of attempts succeed, ${percent(informative)} of groups differ`
      return `${label('look')}${told}  ${pc.dim(`${diagnosis.message} ${diagnosis.hint}`)}`
    }
    case 'silent':
      return `${label('silent')}${pc.dim(`${event.steps === 1 ? 'a step was' : `${event.steps} steps were`} not taken: no attempt was better than another`)}`
    case 'recovered': {
      const { to, scale, recoveries } = event
      const told = `success collapsed to ${measured(event.rollouts)}: back to update ${to}, steps × ${scale}`
      return `${label('recover')}${pc.yellow(told)}  ${pc.dim(`return ${recoveries}`)}`
    }
    case 'families': {
      const dead = event.families.filter((one) => one.dead)
      if (dead.length === 0) return null
      const named = dead.slice(0, 3).map(({ family }) => `"${shown(family)}"`)
      const told = `nothing succeeds on ${dead.length} of ${event.families.length}: ${named.join(', ')}${dead.length > 3 ? ', …' : ''}`
      return `${label('families')}${pc.yellow(told)}`
    }
    case 'stopped':
      return `${label('stop')}${pc.yellow(event.message)} ${pc.dim(event.diagnosis.message)}`
    case 'enough':
      return `${label('end')}${event.message}`
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
      return `${label(what)}${pc.bold(arm.padEnd(8))} ${shown(tier)}: ${pc.bold(measured(rate))} ${pc.dim(`n = ${rate.n}`)}`
    }
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
    case 'stepped': {
      const told = Object.entries(event.metrics).map(([name, value]) => `${name} ${value.toFixed(3)}`)
      return `${label('step')}${told.join('  ')}  ${pc.dim(duration(event.seconds))}`
    }
    case 'imitated':
    case 'preferred':
      return `${label(event.type === 'imitated' ? 'imitate' : 'prefer')}pass ${event.pass}/${event.passes}  loss ${event.metrics.loss?.toFixed(3) ?? '?'}  ${pc.dim(duration(event.seconds))}`
    case 'practised':
      return `${label('practise')}epoch ${event.epoch}/${event.epochs}  ratio ${event.divergence.ratio.toFixed(3)}  divergence ${event.divergence.kl.toFixed(4)}  ${pc.dim(duration(event.seconds))}`
    case 'out-of-bounds':
      return `${label('practise')}epoch ${event.epoch} is out of bounds: ratio ${event.divergence.ratio.toFixed(3)}, divergence ${event.divergence.kl.toFixed(4)}  ${pc.yellow(event.goesOn ? 'back, and half the step' : 'practice ends')}`
    case 'measured':
      return `${label('test')}${shown(event.suite)} ${event.arm}: mean reward ${event.meanReward?.toFixed(3) ?? 'none'} ${pc.dim(`n = ${event.n}`)}`
    case 'gated':
      return `${label('gate')}${pc.bold(event.decision)}: ${shown(event.reasons[0] ?? '')}`
    case 'brought':
      return `${label('brought')}${shown(broughtInWords(event))}`
    case 'tried':
      return `${label('canary')}${event.canary}: ${percentOf(event.share)} of the sessions get the candidate`
    case 'released':
      return `${label('release')}${event.release}${event.retired === undefined ? '' : `: "${event.retired}" is retired, and serves as it is declared`}`
    case 'finished':
      // A run over rollouts ends with more than a line.
      return 'outcome' in event.summary
        ? `${label('finish')}${pc.bold(event.summary.outcome)}: ${shown(event.summary.reason ?? '')}`
        : null
    // Baselines are read beside the arms, at the end.
    case 'baseline':
    case 'progress':
      return null
  }
}
