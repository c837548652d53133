import { writeFile } from 'node:fs/promises'
import pc from 'picocolors'
import {
  defaultTenant,
  parseInput,
  RunId,
  type Store,
  Tenant,
  type Trajectory,
  type TrajectoryFilter,
  type TrajectorySummary,
} from '../../core/index.ts'
import { InputError } from '../../errors/index.ts'
import { ServeConfig } from '../../gateway/index.ts'
import { graphSvg } from '../../report/index.ts'
import { implicitSignals } from '../../reward/index.ts'
import { readConfig } from '../read-config.ts'
import { gatewayConfig } from '../setup/gateway-config.ts'
import { type CallFacts, callFacts } from '../trajectory/facts.ts'
import { findTrajectory } from '../trajectory/find.ts'
import { graphText } from '../trajectory/graph.ts'
import { spent } from '../trajectory/lines.ts'
import { shortReward } from '../trajectory/reward-line.ts'
import { type RewardNow, type RewardOf, rewardOf } from '../trajectory/reward-now.ts'
import { readText } from '../trajectory/read.ts'
import { said } from '../trajectory/said.ts'
import { trajectoryTree } from '../trajectory/tree.ts'
import { wrapped } from '../trajectory/wrap.ts'
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

/** What says by which rules episodes are judged. */
interface JudgingFlags {
  /** The gateway's configuration. */
  readonly config?: string
}

/** Judges by the gateway's configuration, where there is one. */
async function judging({ config }: JudgingFlags, now: number): Promise<RewardOf> {
  const file = gatewayConfig(config)
  return rewardOf(file === undefined ? null : await readConfig(ServeConfig, file, 'docs/gateway.md'), now)
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

interface ShowFlags extends StoreFlags, JudgingFlags {
  readonly tenant?: string
  readonly tokens?: boolean
  readonly full?: boolean
  readonly verbose?: boolean
  readonly graph?: boolean
  readonly svg?: string
  readonly read?: number
}

/** `ratchet show [ID]`: one trajectory as a tree, with its tokens, signals and reward. */
export function showCommand(name: string | undefined, flags: ShowFlags): Promise<void> {
  return withStore(flags, 'read', async (store) => {
    const tenant = parseInput(Tenant, flags.tenant ?? defaultTenant, 'The tenant')
    const found = await findTrajectory(store, name, tenant)
    if (flags.graph || flags.svg !== undefined) return showGraph(found.trajectory, flags)
    if (flags.read !== undefined) {
      process.stdout.write(readText(found.trajectory, flags.read, flags))
      return
    }
    const now = Date.now()
    const told = await store.signals.of(found.trajectory.id)
    const signals = [...told, ...implicitSignals(found.trajectory, now)]
    const earned = await (await judging(flags, now))(found, told)
    if (flags.json) {
      process.stdout.write(`${JSON.stringify({ ...found, reward: earned.reward, signals })}\n`)
      return
    }
    const { tokens = false, full = false, verbose = false } = flags
    const options = { tokens, verbose, width: full ? 1_000_000 : 400, now }
    const tree = trajectoryTree({ trajectory: found.trajectory, earned }, signals, options)
    process.stdout.write(process.stdout.isTTY ? wrapped(tree, process.stdout.columns) : tree)
  })
}

/** `ratchet show --graph`: what each decision was built from, as text, or as a drawing in a file. */
async function showGraph(trajectory: Trajectory, { svg }: Pick<ShowFlags, 'svg'>): Promise<void> {
  if (svg === undefined) {
    process.stdout.write(graphText(trajectory))
    return
  }
  try {
    await writeFile(svg, graphSvg(trajectory))
  } catch (cause) {
    throw new InputError({
      code: 'input/unwritable-drawing',
      message: `The drawing ${svg} cannot be written: ${(cause as Error).message}.`,
      hint: 'Name a file in a folder that is there and may be written, with: ratchet show ID --svg FILE',
      cause,
    })
  }
  process.stdout.write(`${svg}\n`)
}
