/**
 * How many tokens it takes until their text holds one of `stop`: those that complete it included. `null`: it never does.
 * A text that has it keeps it, so the place is found by halving.
 */
export function firstStop(
  tokens: readonly number[],
  stop: readonly string[],
  decode: (tokens: readonly number[]) => string,
): number | null {
  const holds = (count: number): boolean => {
    const text = decode(tokens.slice(0, count))
    return stop.some((one) => text.includes(one))
  }
  if (!holds(tokens.length)) return null
  let [without, within] = [0, tokens.length]
  while (within - without > 1) {
    const middle = (without + within) >> 1
    if (holds(middle)) within = middle
    else without = middle
  }
  return within
}
