import pc from 'picocolors'
import type { Changed, Outcome } from './change-serving.ts'

/** Tells what was changed: a line for people, or the gateway's answer. */
export function printOutcome(
  { json }: { readonly json?: boolean },
  { changed, through }: Outcome,
  line: (changed: Changed) => string,
): void {
  const by = through === null ? '' : pc.dim(` (through the gateway at ${through})`)
  process.stdout.write(json ? `${JSON.stringify(changed)}\n` : `${line(changed)}${by}\n`)
}
