import type { Alert, Repositories } from '../../../core/index.ts'
import { lagsOf, shownIn, todaysContext } from '../../../credit/index.ts'
import { present } from '../../../errors/index.ts'
import { factorsIn } from '../../../gate/index.ts'
import { saidByLabels } from '../../../release/index.ts'
import { type Contribution, isKey, limitReporters, type SessionEvidence, shareOut } from '../../../reward/index.ts'
import type { GoOn } from '../../run/course.ts'
import { fitOf, readableBy } from './fit.ts'
import { familiesIn, tellFailing, toldOf } from './families.ts'
import { type Flood, gather, type Gathered, type Gatherer, type Gathering } from './gather.ts'
import { together } from './gathered.ts'
import { type LabelsSay, readingOf, rubricOf } from './material.ts'
import { runAlert } from './run-alert.ts'
import type { TrafficRun } from './traffic-run.ts'
import { BATCH, earlierBatches, encodeBatch, namedIn, usedBy } from './used.ts'

/** Gathers the evidence and keeps it: from here on it is this run's, and no other run learns from it. */
export async function collect(run: TrafficRun, goOn: GoOn): Promise<void> {
  const { options, key } = run
  const { store, source } = options
  const asOf = run.clock.now()
  const labels = await labelsNow(run, asOf)
  const { factors } = labels
  const gathering: Gathering = {
    store,
    source,
    usedSince: (since: number) => usedBy(earlierBatches(store, key, { since, except: run.run.id })),
    reward: rubricOf(options, labels),
    ...(factors && { factors }),
    credit: options.credit,
    reporters: {
      sessions: (evidence: readonly SessionEvidence[]) => limitReporters(evidence, source.reporters, run.run.id),
      shareOut: (contributions: readonly Contribution[]) => shareOut(contributions, source.reporters, run.run.id),
    },
    asOf,
  }
  const weights = await gatherersOfWeights(run, asOf, labels)
  const others = await gatherersOfOthers(run)
  const gathered = await gather(gathering, [...weights, ...others])
  const each = [...weights, ...others].map(({ parameter }, i) => {
    return [parameter, present(gathered[i], 'what was gathered')] as const
  })
  const { flood, fresh, ...found } = together(each.slice(0, weights.length), each.slice(weights.length))
  const { batch, report } = withTruths(found, labels)
  run.emit({ type: 'gathered', ...report })
  const families = familiesIn(fresh, options.reward)
  if (families.length > 1 || families.some(({ dead }) => dead))
    run.emit({ type: 'families', update: 0, families: families.map(toldOf) })
  const losses = [...lossesOf(flood)].slice(0, mostTold)
  const alerts = losses.map(([reporter, all]) => floodAlert(run, reporter, all, asOf))
  // With the batch that they are of: a run that is gone on with before it was kept gathers another one.
  const tell = async (tx: Repositories) => {
    for (const alert of alerts) await tx.alerts.put(alert)
    await tellFailing(tx, run, families, asOf)
  }
  const { credited, demonstrations, pairs } = report
  await run.keep(BATCH, encodeBatch(batch))
  if (credited + demonstrations + pairs > 0) await goOn({ report }, tell)
  else await run.enter('done', { report, ...nothing(report.sessions) }, tell)
}

/** What the weights that the run trains decided, and what people showed in their place. */
async function gatherersOfWeights(run: TrafficRun, asOf: number, labels: LabelsSay): Promise<Gatherer[]> {
  const { store, source } = run.options
  const gatherers: Gatherer[] = []
  for (const one of run.weights) {
    const { parameter, plan } = one
    const reading = await readingOf(run, one, asOf, labels)
    gatherers.push({
      parameter,
      lags: reading.lags,
      maxLag: source.maxLag,
      isInContext: await todaysContext(store, run.key, parameter),
      fit: fitOf,
      // What nothing here learns from stays for a run that does.
      async shownIn(evidence) {
        const all = await shownIn(evidence, reading)
        return { ...all, ...(!plan.imitation && { demonstrations: [] }), ...(!plan.preferring && { pairs: [] }) }
      },
    })
  }
  return gatherers
}

/**
 * What everything else that learns decided. What earlier Versions decided has other chances than what serves: an optimizer of
 * any Kind does not correct for that.
 */
async function gatherersOfOthers({ options: { store }, key, agent, learners }: TrafficRun): Promise<Gatherer[]> {
  const gatherers: Gatherer[] = []
  for (const parameter of learners.parameters) {
    const lags = await lagsOf(store, key, parameter, 0)
    const isInContext = await todaysContext(store, key, parameter)
    const { of } = present(agent.parameters[parameter], `the Parameter ${parameter}`)
    const fit = readableBy(of)
    gatherers.push({ parameter, lags, maxLag: 0, isInContext, fit, earned: true, shownIn: nothingShown })
  }
  return gatherers
}

const nothingShown = async () => ({ demonstrations: [], pairs: [], refused: 0 })

/** What labels of audits say of signals and of sessions now; of signals nothing where they change nothing. */
async function labelsNow({ options, key }: TrafficRun, asOf: number): Promise<LabelsSay> {
  const { store, reward, weighed, calibrate = true } = options
  if (!calibrate) return {}
  const paidBy = { range: [reward.floor, reward.ceiling], rubric: reward.hash } as const
  const { calibration, truths } = await saidByLabels(store, key, paidBy, asOf)
  const factors = weighed ? factorsIn(calibration) : {}
  return {
    ...(Object.keys(factors).length > 0 && { factors }),
    truths: [...truths].map(([trajectory, truth]) => ({ trajectory, truth })),
  }
}

/** What was gathered with what labels say of the sessions in it, which are kept with it. */
function withTruths(
  { batch, report }: Pick<Gathered, 'batch' | 'report'>,
  { truths = [] }: LabelsSay,
): Pick<Gathered, 'batch' | 'report'> {
  const named = namedIn(batch)
  const own = truths.filter(({ trajectory }) => named.has(trajectory))
  if (own.length === 0) return { batch, report }
  return { batch: { ...batch, truths: own }, report: { ...report, labelled: own.length } }
}

/** Alerts of one run, at most: whoever floods under many names fills no more than this. */
const mostTold = 10

/** What one reporter lost, in words and in numbers. */
interface Loss {
  readonly words: string
  readonly numbers: Alert['evidence']
}

/** Who had more than their share, and of what: first those who lost whole sessions or signals, most of them first. */
function lossesOf({ leftOut, excess }: Flood): ReadonlyMap<string, readonly Loss[]> {
  const losses = new Map<string, Loss[]>()
  const add = (reporter: string, loss: Loss) => losses.set(reporter, [...(losses.get(reporter) ?? []), loss])
  for (const { reporter, sessions, leftOut: lost } of leftOut) {
    const words = `${sessions.before} sessions of the batch: ${lost.sessions} of its own and ${lost.signals} signals are left out`
    add(reporter, { words, numbers: { sessions: { ...sessions }, leftOut: { ...lost } } })
  }
  for (const [part, name] of parts) {
    for (const { reporter, before, after } of excess[part]) {
      add(reporter, { words: `${before} ${name}: ${after} count`, numbers: { [part]: { before, after } } })
    }
  }
  return losses
}

const parts = [
  ['practised', 'sessions that can be practised on'],
  ['demonstrations', 'answers that were shown or taken'],
  ['pairs', 'preferences'],
] as const

function floodAlert(run: TrafficRun, reporter: string, losses: readonly Loss[], at: number): Alert {
  return runAlert(run, ['flood', reporter], {
    kind: 'flood',
    name: reporter.slice(0, 256),
    message: `One reporter decided ${losses.map(({ words }) => words).join('; and ')}.${isKey(reporter) ? ofAllItsPeople : ''}`,
    evidence: Object.fromEntries(losses.flatMap(({ numbers }) => Object.entries(numbers))),
    at,
  })
}

/** A key that speaks for many looks like one that makes up names: who knows is the owner. */
const ofAllItsPeople = ' With all whom it names: where these are people, its id belongs in reporters.trusted.'

const nothing = (sessions: number) => ({
  outcome: 'nothing-to-learn' as const,
  reason:
    sessions === 0
      ? 'There is no fresh evidence, and nobody showed or preferred anything.'
      : `All ${sessions} fresh sessions earned the same: they say nothing of what is better.`,
})
