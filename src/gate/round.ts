/** Nine significant digits: what is decided on and stored does not hang on the last bit of a logarithm. */
export function round(value: number): number {
  return Number(value.toPrecision(9))
}
