import { RatchetError } from '../../errors/index.ts'

/** What a check came to. `warning`: it runs, and not as most people want it. */
export interface Finding {
  /** What was checked. */
  readonly check: string
  readonly status: 'ok' | 'warning' | 'failure'
  readonly says: string
  /** What to do about it; `null` where nothing is to be done. */
  readonly hint: string | null
}

export const ok = (check: string, says: string): Finding => ({ check, status: 'ok', says, hint: null })
export const warning = (check: string, says: string, hint: string): Finding => ({
  check,
  status: 'warning',
  says,
  hint,
})
export const failure = (check: string, says: string, hint: string): Finding => ({
  check,
  status: 'failure',
  says,
  hint,
})

/** What a check finds; its error is a finding, too. */
export async function found(check: string, look: () => Promise<Finding>): Promise<Finding> {
  try {
    return await look()
  } catch (error) {
    if (RatchetError.is(error)) return failure(check, error.message, error.hint)
    return failure(
      check,
      error instanceof Error ? error.message : String(error),
      'Please report it: no check should fail so.',
    )
  }
}
