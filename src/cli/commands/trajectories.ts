import pc from 'picocolors'
import {
  defaultTenant,
  parseInput,
  RunId,
  type Store,
  Tenant,
  type TrajectoryFilter,
  type TrajectorySummary,
} from '../../core/index.ts'
import { implicitSignals } from '../../reward/index.ts'
import { findTrajectory } from '../trajectory/find.ts'
import { said } from '../trajectory/said.ts'
import { trajectoryTree } from '../trajectory/tree.ts'
import { minuteOf, moment } from '../when.ts'
import { type StoreFlags, withStore } from '../with-store.ts'

/** What narrows a list of trajectories. */
export interface FilterFlags extends StoreFlags {
  readonly tenant?: string
  readonly session?: string
  readonly agent?: string
  readonly subject?: string
  readonly run?: string
  readonly since?: string
  readonly before?: string
}

/** @throws InputError for a tenant or a moment that is none. */
export function filterOf(flags: FilterFlags, now: number): TrajectoryFilter {
  const { tenant, session, agent, subject, run, since, before } = flags
  return {
    ...(tenant === undefined ? {} : { tenant: parseInput(Tenant, tenant, 'The tenant') }),
    ...(session === undefined ? {} : { session }),
    ...(agent === undefined ? {} : { agent }),
    ...(subject === undefined ? {} : { subject }),
    ...(run === undefined ? {} : { run: parseInput(RunId, run, 'The run') }),
    ...(since === undefined ? {} : { since: moment(since, now) }),
    ...(before === undefined ? {} : { before: moment(before, now) }),
  }
}

/** `ratchet trajectories`: what was recorded, the latest first. */
export function trajectoriesCommand(flags: FilterFlags & { readonly limit: number }): Promise<void> {
  return withStore(flags, 'read', async (store) => {
    const summaries = await store.trajectories.summaries({ ...filterOf(flags, Date.now()), limit: flags.limit })
    if (flags.json) for (const summary of summaries) process.stdout.write(`${JSON.stringify(summary)}\n`)
    else if (summaries.length === 0) process.stdout.write(`${pc.dim(await whyNone(store))}\n`)
    else {
      for (const summary of summaries) process.stdout.write(`${summaryLine(summary)}\n`)
      process.stdout.write(pc.dim(`\nratchet show ${summaries[0]?.id ?? 'ID'} shows one.\n`))
    }
  })
}

async function whyNone({ trajectories }: Store): Promise<string> {
  const others = await trajectories.count({})
  if (others === 0) return 'Nothing recorded yet. Start with: ratchet serve'
  return `None of the ${others} trajectories here is like that.`
}

function summaryLine({
  id,
  origin,
  session,
  agent,
  calls,
  signals,
  stopReason,
  instruction,
  updatedAt,
}: TrajectorySummary): string {
  const name = session ?? agent
  const facts = [
    ...(name === null ? [] : [said(name, 40)]),
    calls === null ? origin : `${calls} ${calls === 1 ? 'call' : 'calls'}`,
    `${signals} ${signals === 1 ? 'signal' : 'signals'}`,
    ...(stopReason === 'done' ? [] : [pc.yellow(stopReason)]),
  ]
  return `${pc.bold(id)}  ${minuteOf(updatedAt)}  ${facts.join(' · ')}  ${pc.dim(said(instruction, 60))}`
}

interface ShowFlags extends StoreFlags {
  readonly tenant?: string
  readonly tokens?: boolean
  readonly full?: boolean
}

/** `ratchet show [ID]`: one trajectory as a tree, with its tokens, signals and reward. */
export function showCommand(name: string | undefined, flags: ShowFlags): Promise<void> {
  return withStore(flags, 'read', async (store) => {
    const tenant = parseInput(Tenant, flags.tenant ?? defaultTenant, 'The tenant')
    const found = await findTrajectory(store, name, tenant)
    const now = Date.now()
    const told = await store.signals.of(found.trajectory.id)
    const signals = [...told, ...implicitSignals(found.trajectory, now)]
    if (flags.json) process.stdout.write(`${JSON.stringify({ ...found, signals })}\n`)
    else {
      const width = flags.full ? 1_000_000 : 400
      process.stdout.write(trajectoryTree(found, signals, { tokens: flags.tokens ?? false, width, now }))
    }
  })
}
