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

/** @throws OptimizeError when a step's gradient was not finite: the weights are lost, and going on would hide it. */
export function requireFiniteGradient(gradNorm: number): void {
  if (Number.isFinite(gradNorm)) return
  throw new OptimizeError({
    code: 'optimize/diverged',
    message: `The gradient's norm is ${gradNorm}: training has diverged.`,
    hint: 'Lower the learning rate, or clip the gradient at a smaller norm, and start again.',
  })
}
