import pc from 'picocolors'
import {
  parseInput,
  RunId,
  type Store,
  Tenant,
  type TrajectoryFilter,
  type TrajectorySummary,
} from '../../core/index.ts'
import { type CallFacts, callFacts } from '../trajectory/facts.ts'
import { judging, type JudgingFlags } from '../trajectory/judging.ts'
import { spent } from '../trajectory/lines.ts'
import { shortReward } from '../trajectory/reward-line.ts'
import type { RewardNow } from '../trajectory/reward-now.ts'
import { said } from '../trajectory/said.ts'
import { minuteOf, moment } from '../when.ts'
import { storeArgument, type StoreFlags, withStore } from '../with-store.ts'

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

/** `ratchet trajectories`: what was recorded, the latest first, with what each earned. */
export function trajectoriesCommand(flags: FilterFlags & JudgingFlags & { readonly limit: number }): Promise<void> {
  return withStore(flags, 'read', async (store) => {
    const now = Date.now()
    const earnedBy = await judging(flags, now)
    const summaries = await store.trajectories.summaries({ ...filterOf(flags, now), limit: flags.limit })
    for (const summary of summaries) {
      const found = await store.trajectories.get(summary.id)
      // Removed since it was listed.
      if (found === null) continue
      const facts = callFacts(found.trajectory)
      const earned = await earnedBy(found, await store.signals.of(summary.id))
      const listed = flags.json
        ? JSON.stringify({ ...summary, models: facts.models, tokens: facts.tokens, reward: earned.reward })
        : summaryLine(summary, facts, earned)
      process.stdout.write(`${listed}\n`)
    }
    if (flags.json) return
    if (summaries.length === 0) process.stdout.write(`${pc.dim(await whyNone(store))}\n`)
    else
      process.stdout.write(pc.dim(`\nnpx ratchet show ${summaries[0]?.id ?? 'ID'}${storeArgument(flags)} shows one.\n`))
  })
}

async function whyNone({ trajectories }: Store): Promise<string> {
  const others = await trajectories.count({})
  if (others === 0) return 'Nothing recorded yet. Start with: npx ratchet serve'
  return `None of the ${others} trajectories here is like that.`
}

function summaryLine(summary: TrajectorySummary, facts: CallFacts, earned: RewardNow): string {
  const { id, origin, session, agent, signals, stopReason, instruction, updatedAt } = summary
  const named = [session, agent].filter((name) => name !== null)
  const told = [
    ...named.map((name) => said(name, 40)),
    ...(origin === 'traffic' ? spent(facts) : [origin]),
    `${signals} ${signals === 1 ? 'signal' : 'signals'}`,
    shortReward(earned),
    ...(stopReason === 'done' ? [] : [pc.yellow(stopReason)]),
  ]
  return `${pc.bold(id)}  ${minuteOf(updatedAt)}  ${told.join(' · ')}  ${pc.dim(said(instruction, 60))}`
}
