import { InputError } from '../errors/index.ts'
import { Duration } from '../core/index.ts'

/**
 * A moment that a person names: how long ago (`90s`, `30m`, `2h`, `7d`, `2w`), or a date (`2026-11-20`, with a time if
 * need be; without a time zone it is UTC).
 * @returns milliseconds since the epoch.
 * @throws InputError when it is neither.
 */
export function moment(text: string, now: number): number {
  const ago = Duration.safeParse(text.trim())
  if (ago.success) return now - ago.data
  const date = /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2})?)?$/.exec(
    text.trim(),
  )
  const at = date ? Date.parse(utc(date[0])) : Number.NaN
  if (Number.isFinite(at)) return at
  throw new InputError({
    code: 'input/moment',
    message: `"${text}" is neither a date nor a time ago.`,
    hint: 'Write 30m, 2h or 7d for a time ago, or a date as in 2026-11-20.',
  })
}

function utc(date: string): string {
  const iso = date.replace(' ', 'T')
  return iso.length > 10 && !/Z$|[+-]\d{2}:\d{2}$/.test(iso) ? `${iso}Z` : iso
}

/** A moment for people, to the minute, in UTC. */
export function minuteOf(at: number): string {
  return Number.isFinite(at) && Math.abs(at) < 8.64e15 ? new Date(at).toISOString().slice(0, 16).replace('T', ' ') : '?'
}

/** A length of time for people: `0.4 s`, `12 s`, `5 min`, `3 h`, `2 d`. */
export function lengthOf(milliseconds: number): string {
  const s = milliseconds / 1_000
  if (s < 10) return `${s.toFixed(1)} s`
  if (s < 90) return `${Math.round(s)} s`
  if (s < 5_400) return `${Math.round(s / 60)} min`
  if (s < 129_600) return `${Math.round(s / 3_600)} h`
  return `${Math.round(s / 86_400)} d`
}
