import { RatchetError } from '../errors/index.ts'

/** An estimator cannot work out credit as it was asked to: an option out of range, labels that fit no Steps. */
export class CreditError extends RatchetError {}
