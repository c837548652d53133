import pc from 'picocolors'
import { parseInput } from '../../../core/index.ts'
import { AuditQuestion, planAudit } from '../../../gate/index.ts'

interface PlanFlags {
  readonly effect: number
  readonly base?: number
  readonly share?: number
  readonly correlation?: number
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
  if (json) {
    process.stdout.write(`${JSON.stringify({ ...question, ...plan })}\n`)
    return
  }
  const facts = `right ${Math.round(100 * base)} % of the time, ${percent(effect)} more often with the candidate; ${percent(share)} of the sessions drawn, behaviour correlates by ${correlation}, level ${alpha}`
  const lines =
    plan.labels === null
      ? [`${pc.yellow('More than')} ${plan.tried} labels, which is all that was tried.`]
      : [
          `${pc.bold(String(plan.labels))} labels show it in ${percent(power)} of the canaries${plan.median === null ? '' : `, ${plan.median} in half of them`}.`,
          `They are of both arms, and come from about ${plan.sessions} sessions.`,
        ]
  process.stdout.write(`${lines.join('\n')}\n${pc.dim(`For an agent that is ${facts}.`)}\n`)
}

const percent = (share: number) => `${Number((100 * share).toPrecision(3))} %`
