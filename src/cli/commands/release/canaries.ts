import pc from 'picocolors'
import { z } from 'zod'
import type { CanaryEvent, Repositories } from '../../../core/index.ts'
import { type ShownCanary, shownCanary } from '../../../release/index.ts'
import { visible } from '../../visible.ts'
import { minuteOf } from '../../when.ts'
import { withStore } from '../../with-store.ts'
import type { AgentFlags } from './agent.ts'

/** A canary with its story. */
interface ToldCanary extends ShownCanary {
  readonly events: readonly CanaryEvent[]
  /** Sessions that it assigned; and those of them that had settled at the last look, by arm. */
  readonly sessions: { readonly total: number; readonly settled: Arms | null }
}

const Arms = z.object({ baseline: z.number(), candidate: z.number() })
type Arms = z.infer<typeof Arms>

/** `ratchet canaries`: every canary with its story, newest first. */
export function canariesCommand({ limit, ...flags }: AgentFlags & { readonly limit: number }): Promise<void> {
  return withStore(flags, 'read', async (store) => {
    const canaries = await store.canaries.list({ ...(flags.agent === undefined ? {} : { agent: flags.agent }), limit })
    if (canaries.length === 0 && !flags.json) {
      process.stdout.write(`${pc.dim('No canaries yet: a learning run starts them.')}\n`)
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
  const looked = events.flatMap(({ evidence }) => Arms.safeParse(evidence['sessions']).data ?? [])
  return { ...canary, events, sessions: { total, settled: looked.at(-1) ?? null } }
}

const colours = {
  running: pc.cyan,
  promoted: pc.green,
  'rolled-back': pc.red,
  ended: pc.yellow,
} as const satisfies Record<ShownCanary['status'], (text: string) => string>

function linesOf({ id, agent, status, baseline, admission, events, sessions }: ToldCanary): readonly string[] {
  const { total, settled } = sessions
  const arms = settled ? `, settled: ${settled.baseline} baseline, ${settled.candidate} candidate` : ''
  return [
    `${pc.bold(id)}  ${visible(agent)}  ${colours[status](status)}  beside ${baseline}  ${pc.dim(admission ? 'held-out and live evidence' : 'live evidence only')}`,
    `  ${total} ${total === 1 ? 'session' : 'sessions'}${arms}`,
    ...events.map(({ at, type, share, reasons }) => {
      return `  ${minuteOf(at)}  ${type.padEnd(11)}  ${percent(share).padStart(6)}  ${pc.dim(visible(reasons[0] ?? ''))}`
    }),
  ]
}

/** A share for people: `10 %`. */
export const percent = (share: number) => `${Number((100 * share).toPrecision(3))} %`
