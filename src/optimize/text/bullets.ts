/** One lesson of a playbook. */
export interface Bullet {
  /** `p1`, `p2` …: it keeps it, whatever becomes of others. */
  readonly id: string
  /** One line. */
  readonly text: string
  /** How often it was said to have helped, and to have harmed. */
  readonly helpful: number
  readonly harmful: number
}

const heading = `

# Playbook
Lessons from earlier work, with how often each helped and harmed.
`
const line = /^- \[(p\d{1,9}) \+(\d{1,9}) -(\d{1,9})\] (\S.*)$/

/** A text with a playbook after it, whose prefix stays byte for byte. Without a bullet it is the prefix alone. */
export function withBullets(prefix: string, bullets: readonly Bullet[]): string {
  if (bullets.length === 0) return prefix
  const lines = bullets.map(({ id, text, helpful, harmful }) => `- [${id} +${helpful} -${harmful}] ${text}\n`)
  return `${prefix}${heading}${lines.join('')}`
}

/** Reads what {@link withBullets} wrote; a text that it did not write is all prefix. */
export function bulletsIn(text: string): { readonly prefix: string; readonly bullets: readonly Bullet[] } {
  const at = text.lastIndexOf(heading)
  const nothing = { prefix: text, bullets: [] }
  if (at === -1 || !text.endsWith('\n')) return nothing
  const bullets: Bullet[] = []
  for (const one of text.slice(at + heading.length, -1).split('\n')) {
    const [, id, helpful, harmful, words] = line.exec(one) ?? []
    if (id === undefined || words === undefined) return nothing
    bullets.push({ id, text: words, helpful: Number(helpful), harmful: Number(harmful) })
  }
  return { prefix: text.slice(0, at), bullets }
}

/** Words as one line. */
export const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim()

/** How much of a bullet's words another has as well, of all words of both (Jaccard), in [0, 1]. */
export function likeness(first: string, second: string): number {
  const [a, b] = [wordsOf(first), wordsOf(second)]
  const both = [...a].filter((word) => b.has(word)).length
  return a.size + b.size === 0 ? 1 : both / (a.size + b.size - both)
}

const wordsOf = (text: string): ReadonlySet<string> => new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [])
