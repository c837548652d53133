import { type Alert, AlertId, contentHash, type Repositories, rng } from '../../core/index.ts'
import { valueBaseline } from '../../credit/index.ts'
import { type LeftOut, limitReporters } from '../../reward/index.ts'
import { gather } from './gather.ts'
import { limitsOf } from './material.ts'
import { lagsOf } from './served.ts'
import { shownIn } from './shown.ts'
import type { TrafficRun } from './traffic-run.ts'
import { BATCH, type EarlierBatch, earlierBatches, encodeBatch, namedIn, usedBy } from './used.ts'

/** Runs of which is looked up what they used, at most: more than a window holds. */
const manyRuns = 1_000

/** Gathers the evidence and keeps it: from here on it is this run's, and no other run learns from it. */
export async function collect(run: TrafficRun): Promise<void> {
  const { options, parameter, key } = run
  const { store, source, model } = options
  const asOf = run.clock.now()
  const { batch, report, leftOut } = await gather({
    store,
    source,
    parameter,
    lags: await lagsOf(store.releases, key, parameter),
    usedSince: async (since) =>
      usedBy(await earlierBatches(store, key, { since, limit: manyRuns, except: run.run.id })),
    reward: options.reward,
    credit: options.credit ?? valueBaseline(),
    limitReporters: (evidence) => limitReporters(evidence, options.reporters ?? {}, run.run.id),
    shownIn: (evidence) => shownIn(evidence, asOf, model.renderer, limitsOf(run).longest),
    asOf,
  })
  run.emit({ type: 'gathered', ...report })
  const alerts = leftOut.slice(0, mostTold).map((one) => floodAlert(run, one, asOf))
  // With the batch that they are of: a run that is gone on with before it was kept gathers another one.
  const tell = async (tx: Repositories) => {
    for (const alert of alerts) await tx.alerts.put(alert)
  }
  const { credited, demonstrations, pairs } = report
  await run.keep(BATCH, encodeBatch(batch))
  if (credited + demonstrations + pairs > 0) await run.enter('anchor', { report }, tell)
  else await run.enter('done', { report, ...nothing(report.sessions) }, tell)
}

/** Alerts of one run, at most: whoever floods under many names fills no more than this. */
const mostTold = 10

function floodAlert({ run, key }: TrafficRun, { reporter, sessions, leftOut }: LeftOut, at: number): Alert {
  const [own, said] = [leftOut.sessions, leftOut.signals]
  return {
    id: AlertId.parse(contentHash([run.id, 'flood', reporter]).slice(0, 24)),
    agent: key,
    kind: 'flood',
    name: reporter.slice(0, 256),
    message: `One reporter decided ${sessions.before} sessions of the batch: ${own} of its own and ${said} signals are left out.`,
    evidence: { sessions: { ...sessions }, leftOut: { ...leftOut } },
    run: run.id,
    at,
  }
}

const nothing = (sessions: number) => ({
  outcome: 'nothing-to-learn' as const,
  reason:
    sessions === 0
      ? 'There is no fresh evidence, and nobody showed or preferred anything.'
      : `All ${sessions} fresh sessions earned the same: they say nothing of what is better.`,
})

/** What earlier runs that came to their end learned from, drawn for one run: the same whenever it is resumed. */
export async function replayable(run: TrafficRun, trajectories: number): Promise<readonly EarlierBatch['batch'][]> {
  const { replayRuns } = run.schedule
  if (replayRuns === 0 || trajectories === 0) return []
  const earlier = await earlierBatches(run.options.store, run.key, {
    since: 0,
    limit: replayRuns + 1,
    except: run.run.id,
  })
  const completed = earlier.filter((one) => one.completed && one.batch.asOf <= run.run.startedAt)
  const all = completed.flatMap(({ batch }, i) => [...namedIn(batch)].map((id) => ({ i, id })))
  const drawn = rng('replayed', run.options.seed ?? 0, run.run.id)
    .shuffle(all)
    .slice(0, trajectories)
  return completed.map(({ batch }, i) => {
    const ids = new Set(drawn.flatMap((one) => (one.i === i ? [one.id] : [])))
    return {
      ...batch,
      credits: batch.credits.filter(({ trajectory }) => ids.has(trajectory)),
      shown: batch.shown.filter(({ trajectory }) => ids.has(trajectory)),
    }
  })
}
