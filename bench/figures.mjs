/** How the benches that have peers print their figures. */
import { loadavg } from 'node:os'

/** @param {readonly number[]} values */
export function median(values) {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (/** @type {number} */ index) => sorted[index] ?? Number.NaN
  return (at(Math.floor((sorted.length - 1) / 2)) + at(Math.ceil((sorted.length - 1) / 2))) / 2
}

/** The median, with the least, the greatest and their number. @param {readonly number[]} values */
export function spread(values, digits = 2) {
  const text = (/** @type {number} */ value) => value.toFixed(digits)
  return `${text(median(values))} (${text(Math.min(...values))}–${text(Math.max(...values))}, n=${values.length})`
}

/** @param {number} mib */
export const memory = (mib) => `${mib.toFixed(0)} MiB`

/** How busy the machine is: what was measured beside other work says so. */
export const load = () => `load ${loadavg()[0]?.toFixed(1)}`
