import { linear, ridgeOver } from '../core/index.ts'

/**
 * {@link ridgeOver} of one list of targets.
 * @returns what is predicted for other features; with no observations, 0.
 */
export function ridge(
  rows: readonly (readonly number[])[],
  targets: readonly number[],
  lambda: number,
): (features: readonly number[]) => number {
  const fitted = ridgeOver(rows, lambda)(targets)
  return (features) => linear(fitted, features)
}
