import { either } from './rules.ts'

/** An interval of numbers; an open end leaves its bound out. */
export interface NumberRange {
  readonly least: number
  readonly most: number
  readonly leastOpen: boolean
  readonly mostOpen: boolean
}

/** Larger bounds are as good as none: 15 digits are what an exact integer has. */
const largest = 10 ** 15 - 1
/** Beyond it, a number with digits after its point could be rounded to its bound. */
const largestWithFraction = 10 ** 9

/** The decimal forms of the integers in a range; `null` where there are none. */
export function integersIn({ least, most, leastOpen, mostOpen }: NumberRange): string | null {
  const from = Math.max(-largest, leastOpen ? Math.floor(least) + 1 : Math.ceil(least))
  const to = Math.min(largest, mostOpen ? Math.ceil(most) - 1 : Math.floor(most))
  if (from > to) return null
  const forms = to >= 0 ? naturals(Math.max(0, from), to) : []
  if (from < 0) forms.push(`"-" ${either(naturals(Math.max(1, -to), -from))}`)
  return either(forms)
}

/**
 * Decimal forms of numbers in a range: its integers, and those with up to six digits after the point whose whole unit lies
 * in the range. `null` where there are none.
 */
export function numbersIn(range: NumberRange): string | null {
  const integers = integersIn(range)
  const [low, high] = [Math.max(range.least, -largestWithFraction), Math.min(range.most, largestWithFraction)]
  // The last digit is none of 0, so that the number lies strictly between two integers.
  const fraction = '"." [0-9]{0,5} [1-9]'
  const forms = integers === null ? [] : [integers]
  const above = { from: Math.max(0, Math.ceil(low)), to: Math.floor(high) - 1 }
  if (above.from <= above.to) forms.push(`${either(naturals(above.from, above.to))} ${fraction}`)
  const below = { from: Math.max(0, Math.ceil(-high)), to: Math.floor(-low) - 1 }
  if (below.from <= below.to) forms.push(`"-" ${either(naturals(below.from, below.to))} ${fraction}`)
  return forms.length === 0 ? null : either(forms)
}

/** The decimal forms of the integers between two that are not negative. */
function naturals(from: number, to: number): string[] {
  const [low, high] = [String(from), String(to)]
  if (low.length === high.length) return [between(low, high)]
  const forms = [between(low, '9'.repeat(low.length))]
  for (let digits = low.length + 1; digits < high.length; digits++) forms.push(`[1-9] [0-9]{${digits - 1}}`)
  return [...forms, between(`1${'0'.repeat(high.length - 1)}`, high)]
}

/** Digit strings of one length between two. */
function between(low: string, high: string): string {
  if (low === '' || low === high) return `"${low}"`
  const [first, last] = [Number(low[0]), Number(high[0])]
  const [lowRest, highRest] = [low.slice(1), high.slice(1)]
  if (first === last) return `"${first}" ${between(lowRest, highRest)}`
  const [none, all] = ['0'.repeat(lowRest.length), '9'.repeat(lowRest.length)]
  const wholeFrom = lowRest === none ? first : first + 1
  const wholeTo = highRest === all ? last : last - 1
  const rest = lowRest.length > 0 ? ` [0-9]{${lowRest.length}}` : ''
  const forms: string[] = []
  if (wholeFrom > first) forms.push(`"${first}" ${between(lowRest, all)}`)
  if (wholeFrom <= wholeTo) forms.push(`[${wholeFrom}-${wholeTo}]${rest}`)
  if (wholeTo < last) forms.push(`"${last}" ${between(none, highRest)}`)
  return either(forms)
}
