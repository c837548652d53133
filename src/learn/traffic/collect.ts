import { type Alert, AlertId, contentHash, type Repositories } from '../../core/index.ts'
import { valueBaseline } from '../../credit/index.ts'
import { type LeftOut, limitReporters } from '../../reward/index.ts'
import { gather } from './gather.ts'
import { readingOf } from './material.ts'
import { shownIn } from './shown.ts'
import type { TrafficRun } from './traffic-run.ts'
import { BATCH, earlierBatches, encodeBatch, usedBy } from './used.ts'

/** Gathers the evidence and keeps it: from here on it is this run's, and no other run learns from it. */
export async function collect(run: TrafficRun): Promise<void> {
  const { options, parameter, key } = run
  const { store, source } = options
  const asOf = run.clock.now()
  const reading = await readingOf(run, asOf)
  const { batch, report, leftOut } = await gather({
    store,
    source,
    parameter,
    lags: reading.lags,
    usedSince: (since) => usedBy(earlierBatches(store, key, { since, except: run.run.id })),
    reward: options.reward,
    credit: options.credit ?? valueBaseline(),
    limitReporters: (evidence) => limitReporters(evidence, options.reporters ?? {}, run.run.id),
    shownIn: (evidence) => shownIn(evidence, reading),
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
