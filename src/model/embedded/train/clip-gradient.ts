/** The L2 norm of all gradients together. */
export function gradientNorm(gradient: Float32Array): number {
  let sum = 0
  for (let i = 0; i < gradient.length; i++) {
    const g = gradient[i] as number
    sum += g * g
  }
  return Math.sqrt(sum)
}

/** Scales the gradient, in place, so that its norm is at most `limit`; `norm` is the norm it has. */
export function clipGradient(gradient: Float32Array, norm: number, limit: number): void {
  if (norm <= limit) return
  const scale = limit / norm
  for (let i = 0; i < gradient.length; i++) gradient[i] = (gradient[i] as number) * scale
}
