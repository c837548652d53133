import { RatchetError } from '../../errors/index.ts'

/** Samples that this optimizer must not learn from, or a configuration that cannot work. */
export class OptimizeError extends RatchetError {}

/** @throws OptimizeError unless the option is a whole number ≥ 1. */
export function requirePositiveInteger(option: string, value: number): void {
  if (Number.isInteger(value) && value >= 1) return
  throw new OptimizeError({
    code: 'optimize/bad-option',
    message: `${option} is ${value}.`,
    hint: `Make ${option} a whole number, at least 1.`,
  })
}
