import pc from 'picocolors'
import { Calibration, type SignalTells } from '../../../gate/index.ts'
import { said } from '../../trajectory/said.ts'
import { type AuditFlags, AuditGateway } from './audit-gateway.ts'

/** `ratchet audit signals`: how well each signal predicts the truth, and what learning makes of it. */
export async function auditSignalsCommand(flags: AuditFlags): Promise<void> {
  const calibration = await (await AuditGateway.of(flags)).ask('/signals', Calibration)
  if (flags.json) {
    process.stdout.write(`${JSON.stringify(calibration)}\n`)
    return
  }
  const { labels, signals } = calibration
  const lines = [
    `${labels} labels of sessions whose signals this rubric paid${signals.length === 0 ? ': nothing is known of signals yet' : ''}`,
    ...signals.flatMap((one) => [
      `${pc.bold(said(one.signal, 60))}  counts × ${one.factor.toFixed(2)} in learning ${pc.dim(`(labels say ${interval(one.estimate, one.estimateInterval)})`)}`,
      `  right in ${share(one.truthWhenPresent)} of the sessions with it (${one.present}), in ${share(one.truthWhenAbsent)} of the others; correlation ${correlation(one)}`,
      pc.dim(
        `  correlation by arm: baseline ${correlation(one.baseline)}, candidate ${correlation(one.candidate)}; over time: ${correlation(one.earlier)}, then ${correlation(one.later)}`,
      ),
    ]),
  ]
  process.stdout.write(`${lines.join('\n')}\n`)
}

function share(truth: number | null): string {
  return truth === null ? '–' : `${(100 * truth).toFixed(0)} %`
}

function correlation({ correlation: value, interval: bounds }: SignalTells): string {
  return value === null ? '–' : interval(value, bounds)
}

function interval(value: number, bounds: readonly [number, number] | null): string {
  const within = bounds === null ? '' : ` [${bounds[0].toFixed(2)}, ${bounds[1].toFixed(2)}]`
  return `${value.toFixed(2)}${within}`
}
