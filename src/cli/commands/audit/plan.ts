import pc from 'picocolors'
import { parseInput } from '../../../core/index.ts'
import { AuditQuestion, planAudit } from '../../../gate/index.ts'

interface PlanFlags {
  readonly effect: number
  readonly base?: number
  readonly share?: number
  readonly correlation?: number
  readonly judge?: number
  readonly judged?: number
  readonly candidate?: number
  readonly alpha?: number
  readonly power?: number
  readonly json?: boolean
}

/** `ratchet audit plan`: how many labels a decision needs, by the gate's own test on simulated sessions. */
export async function auditPlanCommand({ json, ...asked }: PlanFlags): Promise<void> {
  const question = parseInput(AuditQuestion, asked, 'The plan')
  const { effect, base, share, correlation, alpha, power } = question
  const plan = planAudit(question)
  const alone = question.judge === null ? null : planAudit({ ...question, judge: null })
  if (json) {
    process.stdout.write(`${JSON.stringify({ ...question, ...plan, ...(alone && { withoutJudge: alone }) })}\n`)
    return
  }
  const facts = `right ${Math.round(100 * base)} % of the time, ${percent(effect)} more often with the candidate; ${percent(share)} of the sessions drawn, behaviour correlates by ${correlation}${byJudge(question)}, level ${alpha}`
  const lines =
    plan.labels === null
      ? [`${pc.yellow('More than')} ${plan.tried} labels, which is all that was tried.`]
      : [
          `${pc.bold(String(plan.labels))} labels show it in ${percent(power)} of the canaries${plan.median === null ? '' : `, ${plan.median} in half of them`}.`,
          `They are of both arms, and come from about ${plan.sessions} sessions.`,
        ]
  if (alone) lines.push(`Without the judge: ${alone.labels ?? `more than ${alone.tried}`} labels.`)
  process.stdout.write(`${lines.join('\n')}\n${pc.dim(`For an agent that is ${facts}.`)}\n`)
}

const byJudge = ({ judge, judged }: AuditQuestion) =>
  judge === null ? '' : `, a judge of ${percent(judged)} of the sessions by ${judge}`

const percent = (share: number) => `${Number((100 * share).toPrecision(3))} %`
