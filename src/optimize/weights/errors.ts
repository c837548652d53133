import { RatchetError } from '../../errors/index.ts'

/** Samples that this optimizer must not learn from, or a configuration that cannot work. */
export class OptimizeError extends RatchetError {}

/** @throws OptimizeError unless the option is a whole number ≥ 1. */
export function requirePositiveInteger(option: string, value: number): void {
  requireOption(
    Number.isInteger(value) && value >= 1,
    `${option} is ${value}`,
    `Make ${option} a whole number, at least 1`,
  )
}

/** @throws OptimizeError (`optimize/bad-option`) unless `valid`. Both texts come without a full stop. */
export function requireOption(valid: boolean, problem: string, hint: string): void {
  if (!valid) throw new OptimizeError({ code: 'optimize/bad-option', message: `${problem}.`, hint: `${hint}.` })
}
