import { z } from 'zod'
import { isPaired, type PairedReceipt, type Repositories, type Run, RunId } from '../core/index.ts'
import type { Arm, Baseline } from '../learn/index.ts'
import { arithmeticOf } from './arithmetic.ts'
import { UnknownRunError } from './errors.ts'
import type { Progress, ReleaseStanding, Reproduction, RunReport, TierResult, ValidationCurve } from './run-report.ts'
import { steeringOf } from './steering.ts'
import { type EventOf, eventsOf, latest, readEvents, type StoredEvent } from './stored-events.ts'
import { type FindEpisode, heldOutEpisodes, storiesOf } from './stories.ts'
import { trafficCourse } from './traffic.ts'

/** What of a store a report reads. */
export type ReportStore = Pick<Repositories, 'runs' | 'receipts' | 'trajectories' | 'releases' | 'canaries'>

/** What a report is told beside the run. */
export interface ReportOptions {
  /** How its commands name the store. */
  readonly storeArgument?: string
  /** The command that repeats a run, where there is one. Default: none. */
  readonly reproduce?: (run: Run) => Reproduction | null
}

/**
 * Gathers what is known of a run, finished or not, over rollouts or over traffic.
 * @throws UnknownRunError when the store has no such run; errors of the store pass through.
 */
export async function reportOf(
  store: ReportStore,
  runId: string,
  { storeArgument = '', reproduce = () => null }: ReportOptions = {},
): Promise<RunReport> {
  const id = RunId.safeParse(runId)
  const run = id.success ? await store.runs.get(id.data) : null
  if (!run) throw new UnknownRunError(runId)
  const { events, unread } = readEvents(await store.runs.events(run.id))
  const judgedBy = run.receipt && (await store.receipts.get(run.receipt))
  const receipt = judgedBy && isPaired(judgedBy) ? judgedBy : null
  const looks = latest(eventsOf(events, 'evaluated'), ({ arm, split, tier, update }) =>
    [arm, split, update, tier].join('/'),
  )
  const heldOut = looks.filter(({ split }) => split === 'holdout')
  const find = heldOutEpisodes(store.trajectories, run.id, new Map(heldOut.map(({ arm, update }) => [arm, update])))
  const judged = receipt ? await judgedTiers(receipt, heldOut, find) : null
  const summary = eventsOf(events, 'finished').at(-1)?.summary ?? null
  const checkpoint = await store.runs.latestCheckpoint(run.id)
  const at = StandsAt.parse(checkpoint?.state ?? {})
  const place = Place.parse(checkpoint?.state ?? null)
  const updates = latest(eventsOf(events, 'updated'), ({ update }) => update)

  return {
    run,
    progress: { ...progressOf(run, events, at), phase: place === null ? null : (phases[place] ?? null) },
    rates: summary && 'base' in summary ? pickRates(summary) : null,
    tiers: tierResults(heldOut, baselinesOf(events), judged),
    priming: latest(eventsOf(events, 'primed'), ({ pass }) => pass),
    updates,
    validation: validationCurves(looks),
    steering: steeringOf(events, updates, run.config),
    gate: receipt ? arithmeticOf(receipt) : null,
    brought: latest(eventsOf(events, 'brought'), ({ parameter }) => parameter),
    release: await standing(store, run),
    unreleased: summary && 'base' in summary ? (summary.reason ?? null) : null,
    stories: receipt ? await storiesOf(receipt, run.id, find) : [],
    unreadEvents: unread,
    reproduce: reproduce(run),
    traffic: await trafficCourse(store, run, events, place),
    storeArgument,
  }
}

/** The stage or the phase that a checkpoint names, also as earlier versions named them; `null` for none. */
const Place = z
  .object({
    phase: z.string(),
    stage: z.string().nullable().catch(null),
    learning: z.string().nullable().catch(null),
  })
  .transform(({ phase, stage, learning }) => (phase === 'learn' ? (stage ?? learning) : phase))
  .nullable()
  .catch(null)

const phases: Readonly<Record<string, Progress['phase']>> = {
  prime: 'prime',
  improve: 'improve',
  practise: 'improve',
  control: 'improve',
  test: 'test',
  judge: 'test',
  release: 'test',
  done: 'done',
}

/** What a report reads of the state in a checkpoint. */
const StandsAt = z.object({
  update: z.int().catch(0),
  best: z.object({ update: z.int(), success: z.number() }).nullable().catch(null),
  tokensSampled: z.number().catch(0),
  tokensTrained: z.number().catch(0),
  seconds: z.number().nullable().catch(null),
})

function progressOf(
  run: Run,
  events: readonly StoredEvent[],
  state: z.infer<typeof StandsAt>,
): Omit<Progress, 'phase'> {
  const summary = eventsOf(events, 'finished').at(-1)?.summary
  const started = eventsOf(events, 'started')
  return {
    ...state,
    planned: eventsOf(events, 'updated').at(-1)?.updates ?? null,
    seconds: summary?.seconds ?? state.seconds ?? (run.endedAt === null ? null : (run.endedAt - run.startedAt) / 1000),
    tokensSampled: summary && 'tokensSampled' in summary ? summary.tokensSampled : state.tokensSampled,
    tokensTrained: summary?.tokensTrained ?? state.tokensTrained,
    resumed: started.filter(({ resumedAt }) => resumedAt !== null).length,
  }
}

const pickRates = ({ base, primed, control, learned }: NonNullable<RunReport['rates']>) => ({
  base,
  primed,
  control,
  learned,
})

const baselinesOf = (events: readonly StoredEvent[]): readonly Baseline[] =>
  latest(eventsOf(events, 'baseline'), ({ name, tier }) => JSON.stringify([name, tier]))

/** The tiers of the tasks in a receipt, as their episodes say. */
async function judgedTiers(
  { outcomes }: PairedReceipt,
  heldOut: readonly EventOf<'evaluated'>[],
  find: FindEpisode,
): Promise<ReadonlySet<string> | null> {
  const tiers = new Set(heldOut.map(({ tier }) => tier))
  const judged = new Set<string>()
  for (const { task } of outcomes) {
    if (judged.size === tiers.size) break
    const episode = await find('learned', task)
    if (episode) judged.add(episode.trajectory.task.tier ?? 'all')
  }
  return judged.size > 0 ? judged : null
}

const armOrder: readonly Arm[] = ['base', 'serving', 'primed', 'control', 'learned']

function tierResults(
  heldOut: readonly EventOf<'evaluated'>[],
  baselines: readonly Baseline[],
  judged: ReadonlySet<string> | null,
): readonly TierResult[] {
  const names = new Set([...heldOut, ...baselines].map(({ tier }) => tier))
  const results = [...names].map((tier): TierResult => {
    const arms = latest(
      heldOut.filter((look) => look.tier === tier),
      ({ arm }) => arm,
    )
    return {
      tier,
      judged: judged && judged.has(tier),
      arms: armOrder.flatMap((arm) => arms.filter((look) => look.arm === arm).map(({ rate }) => ({ arm, rate }))),
      baselines: baselines.filter((baseline) => baseline.tier === tier),
    }
  })
  return results.toSorted((a, b) => Number(b.judged) - Number(a.judged))
}

/** The learning policy only: the control's looks are not a function of the update. */
function validationCurves(looks: readonly EventOf<'evaluated'>[]): readonly ValidationCurve[] {
  const own = looks.filter(({ split, arm }) => split === 'validation' && (arm === 'primed' || arm === 'learned'))
  return [...new Set(own.map(({ tier }) => tier))].map((tier) => ({
    tier,
    points: own
      .filter((look) => look.tier === tier)
      .map(({ update, rate }) => ({ update, rate }))
      .toSorted((a, b) => a.update - b.update),
  }))
}

async function standing({ releases }: ReportStore, run: Run): Promise<ReleaseStanding | null> {
  const release = run.release && (await releases.get(run.release))
  if (!release) return null
  const current = await releases.current(run.agent)
  return { release, servesNow: current?.release === release.id }
}
