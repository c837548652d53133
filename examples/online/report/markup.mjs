// Markup in which nothing from outside can be more than text, and figures as the pages of Ratchet write them.

const entities = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

/** Text as it may stand between tags and in a quoted attribute. */
const escape = (text) =>
  text
    .replaceAll(/\p{Surrogate}/gu, '\ufffd')
    .replaceAll(/[^\P{Cc}\t\n]/gu, '\ufffd')
    .replaceAll(/[&<>"']/g, (char) => entities[char])

/** Markup of this program's own source: nothing else is inserted as it is. */
class Markup {
  #text
  constructor(text) {
    this.#text = text
  }
  toString() {
    return this.#text
  }
}

/** For constants of this program alone. */
export const trusted = (text) => new Markup(text)

function render(content) {
  if (content === null || content === undefined || content === false) return ''
  if (content instanceof Markup) return content.toString()
  return Array.isArray(content) ? content.map(render).join('') : escape(String(content))
}

/** Markup from a template; every value that is not markup is escaped, lists are joined, nullish and `false` leave nothing. */
export const html = (strings, ...values) =>
  new Markup(strings.map((part, i) => part + (i < values.length ? render(values[i]) : '')).join(''))

const integers = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 })
export const whole = (n) => integers.format(n)
export const plural = (n, noun) => `${whole(n)} ${noun}${n === 1 ? '' : 's'}`
export const percent = (share) => `${(100 * share).toFixed(0)}%`
export const range = ([low, high]) => `${(100 * low).toFixed(0)}–${(100 * high).toFixed(0)}%`

const points = (difference) =>
  (100 * difference)
    .toFixed(0)
    .replace(/^-(?=0$)/, '')
    .replace('-', '−')

/** A difference of shares in points of a percentage: `+24`. */
export const signed = (difference) => (points(difference).match(/^[−0]/) ? '' : '+') + points(difference)

/** The same with its interval: `+24 points (17 to 31)`. */
export const gain = ({ difference, interval: [low, high] }) =>
  `${signed(difference)} points (${points(low)} to ${points(high)})`

/** Milliseconds in words: `42 s`, `4 min`, `2 h 5 min`. */
export function duration(ms) {
  const seconds = Math.max(0, Math.round(ms / 1000))
  if (seconds < 100) return `${seconds} s`
  const minutes = Math.round(seconds / 60)
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

/** A moment, in UTC: `20 Nov 2026, 06:31 UTC`. */
export function moment(at) {
  const parts = { day: 'numeric', month: 'short', year: 'numeric', hour: '2-digit', minute: '2-digit' }
  return `${new Date(at).toLocaleString('en-GB', { ...parts, timeZone: 'UTC' })} UTC`
}

/** A text that may be long: its beginning, and the rest where somebody opens it. */
export function folded(text, limit = 140) {
  if (text.length <= limit) return text
  return html`<details class="fold"><summary>${text.slice(0, limit)}…</summary>${text}</details>`
}
