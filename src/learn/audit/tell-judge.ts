import type { Audit, AuditDraw, AuditLabel, Canary, Store } from '../../core/index.ts'
import { alikeReviewers, hasJudgeBeside, toldBy } from '../../gate/index.ts'
import { alike, days, teller, untoldInARow, whatToDo } from './tell.ts'

interface Looked {
  readonly audit: Audit
  readonly judged: readonly AuditDraw[]
  /** Whether it was asked, and had the time to answer. Else what comes not is not its silence. */
  readonly couldAnswer: boolean
  readonly now: number
}

/** Tells people, once each, that a judge beside the labels says nothing, or the same of everything. */
export async function tellOfJudge(
  { alerts }: Pick<Store, 'alerts'>,
  canary: Canary,
  { audit, judged, couldAnswer, now }: Looked,
): Promise<void> {
  if (!hasJudgeBeside(audit)) return
  const tell = teller(alerts, canary, now)
  const said = judged.flatMap(saidOf)
  const silence = silenceOf(judged, said, audit)
  if (couldAnswer && silence && now - silence.since > audit.patienceMs) {
    const { waiting, since, lastWord } = silence
    const message = `The judge of the audit says nothing: ${waiting} sessions wait for it, and nothing came for ${days(now - since)}. Labels count without it, once a session has waited for so long as "patience" says, and serving goes on. ${whatToDo.judge}`
    await tell(`judge silent ${lastWord ?? 'from the first'}`, canary.id, message, { canary: canary.id, waiting })
  }
  // In the order in which it said them: what it says later never changes where a run began.
  const words = said.filter(({ withdrawnAt }) => withdrawnAt === null).toSorted((a, b) => a.at - b.at)
  const untold = words.slice(words.findLastIndex(({ truth }) => truth !== null) + 1)
  const [first] = untold
  if (first && untold.length >= untoldInARow) {
    const sessions = untold.length
    const message = `The judge of the audit tells nothing: of the last ${sessions} sessions it said nothing that can be read. It helps no more; labels alone count, and serving goes on. ${whatToDo.judge}`
    await tell(`judge untold ${first.draw}`, canary.id, message, { canary: canary.id, sessions })
  }
  for (const { labels, truth: mean } of alikeReviewers(toldBy(judged, { by: 'judge' }))) {
    await tell('judge alike', canary.id, alike(labels), { canary: canary.id, labels, mean })
  }
}

/**
 * Tells people, once for each canary, that nobody but a judge says what is true of it. One that held-out tasks let in rests on
 * these.
 */
export async function tellOfJudgeAlone(
  { alerts }: Pick<Store, 'alerts'>,
  canary: Canary,
  { audit: { by }, now }: Pick<Looked, 'audit' | 'now'>,
): Promise<void> {
  if (by !== 'judge' || canary.admission !== null) return
  const isRisked = canary.gate.config['promote'] === 'behaviour-only'
  const so = isRisked
    ? 'Its word promotes, as "promote": "behaviour-only" says, and an agent can learn to please it.'
    : 'So it promotes nothing, and the candidate waits.'
  const message = `Only a judge says what is true of the canary ${canary.id}: no label tells how often it errs, and for whom. ${so} Give the audit "labels": { "share": 0.1, "by": "person" }, and judge what \`ratchet audit next\` shows; a verifier or an outcome does as well. \`ratchet audit plan --judge 0.6\` says how many labels a decision needs.`
  await teller(alerts, canary, now)('judge alone', canary.id, message, { canary: canary.id, promotes: isRisked })
}

/** Also what was taken back: it answered. */
const saidOf = ({ labels }: AuditDraw) => labels.filter(({ by }) => by === 'judge')

/**
 * Since when a judge says nothing: since its last word, or since the oldest session that it may still have been asked about
 * then. What had waited for too long by its last word is asked about no more, and is no silence.
 */
function silenceOf(judged: readonly AuditDraw[], said: readonly AuditLabel[], { patienceMs }: Audit) {
  const lastWord = said.length === 0 ? null : said.reduce((latest, { at }) => Math.max(latest, at), 0)
  const waiting = judged.filter(
    (draw) => saidOf(draw).length === 0 && (lastWord === null || draw.at + patienceMs > lastWord),
  )
  const [oldest] = waiting
  return oldest ? { lastWord, since: Math.max(lastWord ?? 0, oldest.at), waiting: waiting.length } : null
}
