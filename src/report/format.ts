import type { Json } from '../core/index.ts'
import type { Arm, SuccessRate } from '../learn/index.ts'

/** A share as a percentage: whole, but with a decimal close to 0 and 100, where it matters. */
export function percent(share: number): string {
  const close = share < 0.045 || share > 0.955
  return `${Number((100 * share).toFixed(close ? 1 : 0))}%`
}

export const success = ({ success: rate }: SuccessRate): string => (rate === null ? 'n/a' : percent(rate))

/** An interval of shares: `88–94%`. */
export const percentRange = ([low, high]: readonly [number, number]): string =>
  `${(100 * low).toFixed(0)}–${(100 * high).toFixed(0)}%`

export const count = (n: number): string => n.toLocaleString('en-US', { maximumFractionDigits: 0 })

/** `1 task`, `12 tasks`. */
export const plural = (n: number, noun: string): string => `${count(n)} ${noun}${n === 1 ? '' : 's'}`

/** A large count in few characters: `950`, `48k`, `1.2M`. */
export function short(n: number): string {
  if (n < 1000) return n.toFixed(0)
  if (n < 999_500) return `${(n / 1000).toFixed(n < 9950 ? 1 : 0)}k`
  return `${(n / 1e6).toFixed(1)}M`
}

/** Seconds as a clock reads: `0:42`, `12:05`, `1:02:03`. */
export function clock(seconds: number): string {
  const whole = Math.round(seconds)
  const two = (n: number) => String(n).padStart(2, '0')
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor((whole % 3600) / 60)]
  return hours > 0 ? `${hours}:${two(minutes)}:${two(whole % 60)}` : `${minutes}:${two(whole % 60)}`
}

/** Seconds in words: `42 s`, `4 min 12 s`, `2 h 5 min`. */
export function duration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds))
  if (whole < 60) return `${whole} s`
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`
}

const superscripts = '⁰¹²³⁴⁵⁶⁷⁸⁹'

/** A number in three significant digits, or as many as asked for; very small and very large ones by powers of ten. */
export function figure(value: number, digits = 3): string {
  if (value === 0) return '0'
  const size = Math.abs(value)
  const text = size >= 10 ** digits ? value.toFixed(0) : value.toPrecision(digits)
  if (size >= 1e-4 && size < 1e6) return String(Number(text)).replace('-', '−')
  const [mantissa = '', exponent = '0'] = value.toExponential(1).split('e')
  const power = exponent.replace(/^[+-]/, '').replaceAll(/\d/g, (digit) => superscripts[Number(digit)] ?? digit)
  return `${mantissa.replace('-', '−')} × 10${exponent.startsWith('-') ? '⁻' : ''}${power}`
}

export const signed = (value: number): string => (value > 0 ? `+${figure(value)}` : figure(value))

/** A moment, in UTC: `20 Nov 2026, 06:31 UTC`. */
export function moment(at: number): string {
  const parts = { day: 'numeric', month: 'short', year: 'numeric', hour: '2-digit', minute: '2-digit' } as const
  return `${new Date(at).toLocaleString('en-GB', { ...parts, timeZone: 'UTC' })} UTC`
}

/** A name from the code in words: `uniformGroups` → `uniform groups`. */
export const words = (name: string): string =>
  name.replaceAll(/([a-z0-9])([A-Z])/g, (_, before: string, capital: string) => `${before} ${capital.toLowerCase()}`)

/** How arms are called in front of people. */
export const armName: Readonly<Record<Arm, string>> = {
  base: 'Base model',
  serving: 'Served before',
  primed: 'Primed',
  control: 'Control',
  learned: 'Learned',
}

/** A text cut to a length that a page can hold, saying how much is left out. */
export function cut(text: string, limit: number): string {
  return text.length <= limit ? text : `${text.slice(0, limit)} … ${count(text.length - limit)} more characters`
}

/** One JSON value on one line: a text bare, a number in so many digits, a list in brackets. */
export function inline(value: Json, digits = 3): string {
  if (typeof value === 'string') return value
  if (typeof value === 'number') return figure(value, digits)
  if (value === null) return 'none'
  if (Array.isArray(value)) return `[${value.map((item: Json) => inline(item, digits)).join(', ')}]`
  return typeof value === 'boolean' ? String(value) : JSON.stringify(value)
}

/** A nested value as rows of a dotted path and a leaf, in order. Lists are leaves. */
export function flatten(value: Json, path: readonly string[] = []): readonly { path: readonly string[]; leaf: Json }[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [{ path, leaf: value }]
  return Object.entries(value).flatMap(([key, inner]) => flatten(inner, [...path, key]))
}
