import pc from 'picocolors'
import { type CanaryEvent, LifetimeAlpha, type Repositories, visible } from '../../../core/index.ts'
import { CanaryLevel, levelInWords } from '../../../gate/index.ts'
import {
  countSessions,
  percentOf,
  type SessionCounts,
  type ShownCanary,
  shownCanary,
  watchedUntil,
} from '../../../release/index.ts'
import { minuteOf } from '../../when.ts'
import { withStore } from '../../with-store.ts'
import type { AgentFlags } from './agent.ts'

/** A canary with its story. */
interface ToldCanary extends ShownCanary {
  /** Whether somebody looks at it; only then its share gets the candidate. `null` for one that has ended. */
  readonly watched: boolean | null
  readonly events: readonly CanaryEvent[]
  readonly sessions: {
    /** That it assigned. */
    readonly total: number
    /** What the gate is asked about, by arm. */
    readonly judged: Pick<SessionCounts, 'baseline' | 'candidate'>
    /** Why others are no evidence. */
    readonly leftOut: Omit<SessionCounts, 'baseline' | 'candidate'>
    /** That may be learned from, and nobody has judged. */
    readonly unjudged: number
  }
}

/** `ratchet canaries`: every canary with its story, newest first. */
export function canariesCommand({ limit, ...flags }: AgentFlags & { readonly limit: number }): Promise<void> {
  return withStore(flags, 'read', async (store) => {
    const canaries = await store.canaries.list({ ...(flags.agent === undefined ? {} : { agent: flags.agent }), limit })
    if (canaries.length === 0 && !flags.json) {
      process.stdout.write(`${pc.dim('No canaries yet: a learning run starts them, or `ratchet try`.')}\n`)
    }
    for (const canary of canaries) {
      const told = await tell(store, shownCanary(canary))
      process.stdout.write(flags.json ? `${JSON.stringify(told)}\n` : `${linesOf(told).join('\n')}\n\n`)
    }
  })
}

async function tell(store: Pick<Repositories, 'canaries' | 'trajectories'>, canary: ShownCanary): Promise<ToldCanary> {
  const events = await store.canaries.events(canary.id)
  const total = await store.trajectories.count({ canary: canary.id })
  const { baseline, candidate, unjudged, ...leftOut } = await countSessions(store, canary)
  const watched = canary.status === 'running' ? Date.now() < (await watchedUntil(store, canary)) : null
  return { ...canary, watched, events, sessions: { total, judged: { baseline, candidate }, leftOut, unjudged } }
}

const colours = {
  running: pc.cyan,
  promoted: pc.green,
  'rolled-back': pc.red,
  ended: pc.yellow,
} as const satisfies Record<ShownCanary['status'], (text: string) => string>

function linesOf({
  id,
  agent,
  status,
  watched,
  baseline,
  candidate,
  admission,
  gate,
  events,
  sessions,
}: ToldCanary): readonly string[] {
  return [
    `${pc.bold(id)}  ${visible(agent)}  ${colours[status](status)}  ${visible(Object.keys(candidate).join(', '))} against ${baseline}  ${pc.dim(admission ? 'held-out and live evidence' : 'live evidence only')}`,
    `  ${sessionsLine(sessions)}`,
    ...levelLines(gate.config),
    ...events.map(({ at, type, share, reasons }) => {
      return `  ${minuteOf(at)}  ${type.padEnd(11)}  ${percentOf(share).padStart(6)}  ${pc.dim(visible(reasons[0] ?? ''))}`
    }),
    ...(watched === false
      ? [`  ${pc.yellow('not watched')}: everybody gets the baseline until somebody looks at it again`]
      : []),
  ]
}

/** What the candidate may spend of what the agent's life has. */
function levelLines(config: ToldCanary['gate']['config']): readonly string[] {
  const { data: level } = CanaryLevel.safeParse(config['level'])
  const { data: lifetime } = LifetimeAlpha.safeParse(config['lifetime'])
  if (!level || !lifetime) return []
  const bound = `All candidates together have ${lifetime.alpha} (${lifetime.control}).`
  return [`  ${pc.dim(`${levelInWords(level)} ${bound}`)}`]
}

function sessionsLine({ total, judged, leftOut, unjudged }: ToldCanary['sessions']): string {
  const { baseline, candidate } = judged
  const others = [
    [leftOut.overShare, 'over share'],
    [leftOut.unwatched, 'unwatched'],
    [leftOut.withheld, 'not to be learned from'],
    [unjudged, 'not judged'],
  ] as const
  return [
    `${total} ${total === 1 ? 'session' : 'sessions'}`,
    ...(baseline + candidate > 0 ? [`judged: ${baseline} baseline, ${candidate} candidate`] : []),
    ...others.flatMap(([count, why]) => (count > 0 ? [`${count} ${why}`] : [])),
  ].join(', ')
}
