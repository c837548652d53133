/** Nine significant digits: what is decided on and stored does not hang on the last bit of a logarithm. */
export function round(value: number): number {
  return Number(value.toPrecision(9))
}

/** {@link round} that never gives less: for p-values, where less would claim more evidence than there is. */
export function roundUp(value: number): number {
  const near = round(value)
  return near >= value ? near : round(near + 10 ** (Math.floor(Math.log10(near)) - 8))
}
