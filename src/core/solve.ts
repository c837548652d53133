/**
 * Solves A·x = b for a symmetric positive definite A, by its Cholesky factor: A = L·Lᵀ. Where A is none, or holds what is no
 * number, so does the answer.
 */
export const solve = (a: readonly (readonly number[])[], b: readonly number[]): readonly number[] => factored(a)(b)

/** {@link solve} for many b: the factor is made once. */
export function factored(a: readonly (readonly number[])[]): (b: readonly number[]) => readonly number[] {
  const size = a.length
  const l: number[][] = Array.from({ length: size }, () => zeros(size))
  const at = (matrix: readonly (readonly number[])[], i: number, j: number) => matrix[i]?.[j] ?? 0
  for (let i = 0; i < size; i++) {
    const line = l[i] ?? []
    for (let j = 0; j <= i; j++) {
      const other = l[j] ?? []
      let sum = at(a, i, j)
      for (let k = 0; k < j; k++) sum -= (line[k] ?? 0) * (other[k] ?? 0)
      line[j] = i === j ? Math.sqrt(sum) : sum / at(l, j, j)
    }
  }
  return (b) => {
    const y: number[] = []
    for (let i = 0; i < size; i++) {
      let sum = b[i] ?? 0
      for (let k = 0; k < i; k++) sum -= at(l, i, k) * (y[k] ?? 0)
      y.push(sum / at(l, i, i))
    }
    const x = zeros(size)
    for (let i = size - 1; i >= 0; i--) {
      let sum = y[i] ?? 0
      for (let k = i + 1; k < size; k++) sum -= at(l, k, i) * (x[k] ?? 0)
      x[i] = sum / at(l, i, i)
    }
    return x
  }
}

/** So many zeros. */
export function zeros(length: number): number[] {
  return Array.from({ length }, () => 0)
}
