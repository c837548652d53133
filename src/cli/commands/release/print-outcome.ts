import pc from 'picocolors'
import type { Changed, Outcome } from './change-serving.ts'

/** Tells what was changed: lines for people, the first with who did it, or the gateway's answer. */
export function printOutcome(
  { json }: { readonly json?: boolean },
  { changed, through }: Outcome,
  line: (changed: Changed) => string,
): void {
  const by = through === null ? '' : pc.dim(` (through the gateway at ${through})`)
  const [first = '', ...more] = line(changed).split('\n')
  process.stdout.write(json ? `${JSON.stringify(changed)}\n` : `${[first + by, ...more].join('\n')}\n`)
}
