import type { IncomingHttpHeaders } from 'node:http'

/** Longer than anyone waits; a server that says more is not believed. */
const longest = 24 * 60 * 60

/**
 * How long a server asks to be left alone, in seconds: from `retry-after-ms` (OpenAI and Azure), or from `retry-after` in
 * seconds or as an HTTP date. `null` when it does not say, or not in a way that can be read.
 * @param now milliseconds since the epoch.
 */
export function retryAfterOf(headers: IncomingHttpHeaders, now: number): number | null {
  const milliseconds = decimal(headers['retry-after-ms'])
  if (milliseconds !== null) return Math.min(milliseconds / 1_000, longest)
  const said = headers['retry-after']
  const seconds = decimal(said)
  if (seconds !== null) return Math.min(seconds, longest)
  const date = typeof said === 'string' && /^[A-Z][a-z]{2},? .*GMT$/.test(said) ? Date.parse(said) : Number.NaN
  return Number.isNaN(date) ? null : Math.min(Math.max(0, (date - now) / 1_000), longest)
}

function decimal(text: string | string[] | undefined): number | null {
  return typeof text === 'string' && /^\d{1,15}(\.\d{1,9})?$/.test(text) ? Number(text) : null
}
