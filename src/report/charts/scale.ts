/** A place along a chart's width, as SVG takes it: charts stretch with the page and their text does not. */
export const across = (share: number): string => `${Number((100 * share).toFixed(3))}%`

/** Coordinates in a few characters. */
export const coordinate = (value: number): string => String(Number(value.toFixed(2)))

/** At most `limit` round steps from 0 to `max`, whole numbers. */
export function wholeTicks(max: number, limit: number): readonly number[] {
  const steps = [1, 2, 5].flatMap((digit) => [1, 10, 100, 1000, 10_000, 100_000].map((power) => digit * power))
  const step = steps.toSorted((a, b) => a - b).find((size) => max / size <= limit - 1) ?? max
  const ticks: number[] = []
  for (let tick = 0; tick <= max; tick += Math.max(1, step)) ticks.push(tick)
  return ticks
}

/** The lowest and highest of values; `null` without any. */
export function extent(values: readonly number[]): readonly [number, number] | null {
  if (values.length === 0) return null
  return [values.reduce((a, b) => Math.min(a, b)), values.reduce((a, b) => Math.max(a, b))]
}
