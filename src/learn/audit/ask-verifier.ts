import { LearnError } from '../errors.ts'
import type { AuditVerifier, AuditedSession } from './verifier.ts'

/** How long a verifier may take, and how often it is asked about one session. */
export interface VerifierLimits {
  /** Milliseconds for one answer. */
  readonly timeoutMs: number
  /** Times that it is asked before its word is missing. */
  readonly tries: number
  /** Sessions that it is asked about at once. */
  readonly concurrency: number
}

export const usualVerifierLimits: VerifierLimits = { timeoutMs: 60_000, tries: 3, concurrency: 4 }

/** Its time was over. */
export class VerifierTimeout extends LearnError {
  constructor(timeoutMs: number) {
    super({
      code: 'learn/verifier-timeout',
      message: `Who was asked about a session said nothing within ${timeoutMs} ms.`,
      hint: 'Look whether it is overloaded, or take a faster one.',
    })
  }
}

/**
 * Asks a verifier once, and waits no longer than it may take.
 * @throws what it throws; an error for a word that is no truth, and when its time is over.
 */
export async function askVerifier(
  verifier: AuditVerifier,
  session: Omit<AuditedSession, 'signal'>,
  timeoutMs: number,
): Promise<number | null> {
  const over = new AbortController()
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const error = new VerifierTimeout(timeoutMs)
      over.abort(error)
      reject(error)
    }, timeoutMs)
  })
  try {
    // Also one that throws at once.
    const asked = Promise.resolve().then(() => verifier({ ...session, signal: over.signal }))
    return truthIn(await Promise.race([asked, late]))
  } finally {
    clearTimeout(timer)
  }
}

function truthIn(said: number | boolean | null): number | null {
  if (said === null) return null
  const truth = Number(said)
  if (truth >= 0 && truth <= 1) return truth
  throw new Error(`the verifier said ${truth}, which is not between 0 and 1`)
}
