import { CreditError } from './credit-error.ts'

/** An option of an estimator, and the values that it may have, both ends included. */
export interface NumberOption {
  readonly estimator: string
  readonly option: string
  readonly least: number
  readonly most: number
}

/** @throws CreditError for a number outside its range, or none. */
export function requireWithin(value: number, { estimator, option, least, most }: NumberOption): void {
  if (value >= least && value <= most) return
  throw new CreditError({
    code: 'credit/bad-option',
    message: `The option "${option}" of ${estimator} is ${value}.`,
    hint: `Give a number from ${least} to ${most}.`,
  })
}
