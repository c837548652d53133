import { type Clock, systemClock } from '../../core/index.ts'
import { RatchetError } from '../../errors/index.ts'

interface Log {
  warn(fields: { readonly err: { readonly message: string; readonly code?: string } }, message: string): void
}

/** One and the same problem is written so often, however many sessions have it. */
const againMs = 600_000
/** What is thrown may quote a session. */
const longest = 300

/** Writes what goes wrong with audits into the log: by its code, or its name, once in ten minutes each. */
export function problemLog(log: Log, clock: Clock = systemClock): (error: unknown) => void {
  const told = new Map<string, { at: number; since: number }>()
  return (error) => {
    const message = (error instanceof Error ? error.message : String(error)).slice(0, longest)
    const code = RatchetError.is(error) ? error.code : undefined
    const kind = code ?? (error instanceof Error ? error.name : 'thrown')
    const before = told.get(kind)
    if (before && clock.now() - before.at < againMs) {
      before.since++
      return
    }
    told.set(kind, { at: clock.now(), since: 0 })
    const more = before && before.since > 0 ? `, and ${before.since} times since it was last told` : ''
    log.warn({ err: { message, ...(code !== undefined && { code }) } }, `an audit's verifier or judge failed${more}`)
  }
}
