/** Adam's (Kingma and Ba, 2015). */
const [beta1, beta2, epsilon] = [0.9, 0.999, 1e-8]

/**
 * Adam (Kingma and Ba, "Adam: A Method for Stochastic Optimization", 2015), in the form that their section 2 calls more
 * efficient: the size of the step is corrected, not the second moment.
 * @param size how many values there are.
 * @param rate size of a step, > 0.
 * @returns takes one step against a gradient: it changes the values in place, and remembers the moments.
 */
export function adam(size: number, rate: number): (values: Float64Array, gradient: Float64Array) => void {
  const [first, second] = [new Float64Array(size), new Float64Array(size)]
  let step = 0
  return (values, gradient) => {
    step++
    const stride = rate * Math.sqrt(1 - beta2 ** step)
    for (let i = 0; i < size; i++) {
      const slope = gradient[i] ?? 0
      first[i] = beta1 * (first[i] ?? 0) + (1 - beta1) * slope
      second[i] = beta2 * (second[i] ?? 0) + (1 - beta2) * slope * slope
      const scaled = (first[i] ?? 0) / (1 - beta1 ** step) / (Math.sqrt(second[i] ?? 0) + epsilon)
      values[i] = (values[i] ?? 0) - stride * scaled
    }
  }
}
