import pc from 'picocolors'
import { z } from 'zod'
import { parseInput } from '../../../core/index.ts'
import { Agreement, JudgeBeside } from '../../../gate/index.ts'
import { askGateway } from '../../gateway/ask-gateway.ts'
import { type GatewayFlags, gatewayOf } from '../../gateway/gateway-url.ts'
import { said } from '../../trajectory/said.ts'
import { minuteOf } from '../../when.ts'
import { type AuditFlags, AuditGateway, Standing } from './audit-gateway.ts'

const Listed = Standing.extend({
  labels: z.array(
    z.looseObject({
      draw: z.string(),
      reviewer: z.string(),
      truth: z.number().nullable(),
      note: z.string(),
      at: z.number(),
      withdrawn: z.boolean(),
    }),
  ),
})

/** `ratchet audit list`: where the audit stands, and what you said in it. */
export async function auditListCommand(flags: AuditFlags): Promise<void> {
  const listed = await (await AuditGateway.of(flags)).ask('', Listed)
  if (flags.json) {
    process.stdout.write(`${JSON.stringify(listed)}\n`)
    return
  }
  process.stdout.write(`${standingLine(listed)}\n`)
  for (const { draw, truth, note, at, withdrawn } of listed.labels) {
    const gone = withdrawn ? pc.red('  taken back') : ''
    process.stdout.write(`  ${minuteOf(at)}  ${said(draw, 64)}  ${truth ?? '?'}  ${pc.dim(said(note, 80))}${gone}\n`)
  }
}

// A gateway of an earlier version says nothing of its judge.
const Agreed = Standing.extend({ ...Agreement.shape, judge: JudgeBeside.nullish() })

/** `ratchet audit agreement`: how reviewers agree, and who says the same of everything. */
export async function auditAgreementCommand(flags: AuditFlags): Promise<void> {
  const agreed = await (await AuditGateway.of(flags)).ask('/agreement', Agreed)
  if (flags.json) {
    process.stdout.write(`${JSON.stringify(agreed)}\n`)
    return
  }
  const alpha = agreed.alpha === null ? 'not known yet' : agreed.alpha.toFixed(2)
  const lines = [
    standingLine(agreed),
    `Krippendorff's alpha: ${alpha} ${pc.dim(`over ${agreed.shared} that several judged; 1 is full agreement, 0 is chance`)}`,
    ...agreed.pairs.map(({ a, b, draws, kappa }) => {
      return `  ${said(a, 60)} and ${said(b, 60)}: Cohen's kappa ${kappa === null ? '–' : kappa.toFixed(2)} over ${draws}`
    }),
    ...agreed.reviewers.map(({ reviewer, labels, untold, mean, agrees, alike }) => {
      const facts = [
        `${labels} judged`,
        ...(untold > 0 ? [`${untold} not to be told`] : []),
        ...(mean === null ? [] : [`mean ${mean.toFixed(2)}`]),
        ...(agrees === null ? [] : [`with the others in ${(100 * agrees).toFixed(0)} %`]),
      ]
      return `  ${said(reviewer, 60)}: ${facts.join(', ')}${alike ? pc.red('  says the same of everything') : ''}`
    }),
    ...(agreed.others > 0 ? [`  and ${agreed.others} others who judged less`] : []),
    ...(agreed.judge ? judgeLines(agreed.judge) : []),
  ]
  process.stdout.write(`${lines.join('\n')}\n`)
}

/** A judge's words beside the truth: whether it tells more than a constant, leans to one side, and means what it says. */
export function judgeLines({ n, brier, constantBrier, bias, bins }: JudgeBeside): readonly string[] {
  const leans = bias && `; says ${signed(bias.mean)} [${signed(bias.low)}, ${signed(bias.high)}] more than is true`
  return [
    `The judge beside the truth of ${n} sessions: Brier ${brier.toFixed(2)}, a constant's ${constantBrier.toFixed(2)}${leans ?? ''}`,
    ...bins.map(({ from, to, n: of, told, truth }) => {
      const means = `says ${told?.toFixed(2) ?? '–'}, true ${truth?.toFixed(2) ?? '–'}`
      return `  ${from.toFixed(1)} to ${to.toFixed(1)}  ${means} ${pc.dim(`of ${of}`)}`
    }),
  ]
}

const signed = (value: number) => `${value < 0 ? '-' : '+'}${Math.abs(value).toFixed(2)}`

/** `ratchet audit withdraw KEY`: takes back all that a key said. */
export async function auditWithdrawCommand(key: string, flags: GatewayFlags): Promise<void> {
  const answer = await askGateway(gatewayOf(flags), '/ratchet/audit/withdraw', { key })
  const { withdrawn } = parseInput(z.looseObject({ withdrawn: z.number() }), answer, "The gateway's answer")
  if (flags.json) process.stdout.write(`${JSON.stringify({ key, withdrawn })}\n`)
  else {
    const after = withdrawn > 0 ? ' What rested on them is looked at again.' : ''
    process.stdout.write(`${pc.green('✓')} ${withdrawn} labels of ${said(key, 80)} count no more.${after}\n`)
  }
}

function standingLine({ canary, by, drawn, settled, waiting }: z.infer<typeof Standing>): string {
  return `${pc.bold(said(canary, 64))}  by ${said(by, 20)}  ${drawn} drawn, ${settled} judged, ${waiting} wait`
}
