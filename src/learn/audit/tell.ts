import {
  type Alert,
  AlertId,
  type Audit,
  type AuditDraw,
  type Canary,
  contentHash,
  type Store,
  tellOnce,
} from '../../core/index.ts'
import { alikeReviewers, contraryReviewers, toldBy, truthOf } from '../../gate/index.ts'

/** Draws in a row of which nothing could be told, after which the source of truth counts as dead. */
export const untoldInARow = 10

/** Tells people, once each, that no truth comes, and of reviewers who say the same of everything, or contradict the others. */
export async function tellOfAudit(
  { alerts }: Pick<Store, 'alerts'>,
  canary: Canary,
  { audit, draws, now }: { readonly audit: Audit; readonly draws: readonly AuditDraw[]; readonly now: number },
): Promise<void> {
  const tell = teller(alerts, canary, now)
  const known = draws.map((draw) => ({ draw, ...truthOf(draw, audit, now) }))
  const open = known.filter(({ settled }) => !settled)
  const oldest = open[0]?.draw
  const waited = oldest ? now - oldest.at : 0
  const allowed = audit.patienceMs + (audit.outcome?.withinMs ?? 0)
  if (oldest && waited > allowed) {
    const waiting = open.length
    const so =
      canary.endedAt === null
        ? 'Nothing is promoted until its truth is told, and serving goes on.'
        : 'Its candidate was promoted and serves: what is not told cannot take it back.'
    const message = `The audit says nothing: the oldest of ${waiting} draws has waited for ${days(waited)}. ${so} ${whatToDo[audit.by]}`
    await tell(`silent ${oldest.id}`, canary.id, message, { canary: canary.id, draw: oldest.id, waiting })
  }
  const over = known.filter(({ settled }) => settled)
  const untold = over.slice(over.findLastIndex(({ truth }) => truth !== null) + 1)
  const first = untold[0]?.draw
  if (first && untold.length >= untoldInARow) {
    const draws = untold.length
    const message = `The audit tells nothing: of the last ${draws} draws the truth is missing, which counts against the candidate. ${whatToDo[audit.by]}`
    await tell(`untold ${first.id}`, canary.id, message, { canary: canary.id, draws })
  }
  if (audit.by !== 'person' && audit.by !== 'judge') return
  const said = toldBy(draws, audit)
  for (const { reviewer, draws: shared, agrees } of contraryReviewers(said)) {
    const message = `The reviewer ${reviewer} agrees with the others no more often than chance would, over ${shared} sessions that others judged too. \`ratchet audit agreement\` shows all of them; agree on what is right, or take back what the one who errs said: \`ratchet audit withdraw\`.`
    await tell(`contrary ${reviewer}`, reviewer, message, { canary: canary.id, draws: shared, agrees })
  }
  for (const { reviewer, labels, truth: mean } of alikeReviewers(said)) {
    const message =
      audit.by === 'judge'
        ? alike(labels)
        : `The reviewer ${reviewer} said the same of all ${labels} sessions that they judged. Such labels tell nothing; where the key was stolen, \`ratchet audit withdraw\` takes them back.`
    await tell(`alike ${reviewer}`, reviewer, message, { canary: canary.id, labels, mean })
  }
}

export const alike = (labels: number) =>
  `The judge of the audit said the same of all ${labels} sessions that it was asked about: that tells nothing. Ask another model, or another question ("criterion").`

/** Tells people of one thing once. */
export function teller(alerts: Store['alerts'], canary: Canary, at: number) {
  return async (key: string, name: string, message: string, evidence: Alert['evidence']) => {
    const id = AlertId.parse(contentHash({ audit: canary.id, key }).slice(0, 16))
    await tellOnce(alerts, { id, agent: canary.agent, kind: 'audit', name, message, evidence, run: null, at })
  }
}

export const whatToDo: Readonly<Record<Audit['by'], string>> = {
  person: '`ratchet audit next` shows what is to be judged.',
  verifier: 'Look at why the verifier fails or is not there.',
  judge: 'Look at why the judge does not answer with a number.',
  outcome: 'Look whether the keys that may report the outcome still do.',
}

export function days(ms: number): string {
  const hours = Math.floor(ms / 3_600_000)
  return hours < 48 ? `${hours} h` : `${Math.floor(hours / 24)} d`
}
