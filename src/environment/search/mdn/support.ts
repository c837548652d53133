import type { SimpleSupportStatement, SupportBlock, SupportStatement } from '@mdn/browser-compat-data'

/** The browsers a document lists, by their ids in the data, in the order of its lines. */
export const browsers = ['chrome', 'edge', 'firefox', 'opera', 'safari'] as const
export type Browser = (typeof browsers)[number]

/**
 * What a document says of each browser:
 * - `112`: the version that first supports the feature, by default, completely, under its standard name, and to this day
 *   (`15.0` is written `15`);
 * - `never`: no version does;
 * - `<=37`: some version at or before this one, the data does not know which;
 * - `preview`, `partial`, `renamed` (prefix or other name), `flag` (off by default), `removed`: the best that can be said,
 *   in this order, where there is no complete support.
 */
export type SupportTable = Readonly<Record<Browser, string>>

export function supportTable(support: SupportBlock): SupportTable {
  const entries = browsers.map((browser) => [browser, supportValue(support[browser])] as const)
  return Object.fromEntries(entries) as SupportTable
}

/** One statement's value as {@link SupportTable} defines it. A browser that the data omits counts as `never`. */
export function supportValue(statement: SupportStatement | undefined): string {
  const statements = statement === undefined ? [] : Array.isArray(statement) ? statement : [statement]
  const added = statements.filter(({ version_added }) => version_added !== false)
  if (added.length === 0) return 'never'
  const current = added.filter(({ version_removed }) => version_removed === undefined)
  const complete = current.filter((one) => !isFlagged(one) && !isRenamed(one) && !isPartial(one))
  const versions = complete.map(({ version_added }) => String(version_added).replace(/(\.0)+$/, ''))

  const exact = versions.filter((version) => isVersion(version)).sort(compareVersions)
  if (exact[0] !== undefined) return exact[0]
  const ranged = versions.find((version) => version.startsWith('≤'))
  if (ranged !== undefined) return `<=${ranged.slice(1)}`
  if (versions.includes('preview')) return 'preview'
  const enabled = current.filter((one) => !isFlagged(one))
  if (enabled.some((one) => isPartial(one))) return 'partial'
  if (enabled.some((one) => isRenamed(one))) return 'renamed'
  return current.length > 0 ? 'flag' : 'removed'
}

const isFlagged = (one: SimpleSupportStatement) => one.flags !== undefined
const isRenamed = (one: SimpleSupportStatement) => one.prefix !== undefined || one.alternative_name !== undefined
const isPartial = (one: SimpleSupportStatement) => one.partial_implementation === true

export function isVersion(value: string): boolean {
  return /^\d+(\.\d+)*$/.test(value)
}

/** Whether a browser has the feature by default, from a known version on or from some version at or before one. */
export const isSupported = (value: string): boolean => isVersion(value) || value.startsWith('<=')

/** Numerically, part by part: `9` before `15.4` before `15.10`. */
export function compareVersions(a: string, b: string): number {
  const left = a.split('.').map(Number)
  const right = b.split('.').map(Number)
  for (let i = 0; i < Math.max(left.length, right.length); i++) {
    const difference = (left[i] ?? 0) - (right[i] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}

/** A document's lines: `chrome 112`, one a browser. */
export function supportLines(table: SupportTable): string[] {
  return browsers.map((browser) => `${browser} ${table[browser]}`)
}

/** Reads lines back, as a reader of the document would; what has no line is `unknown`. */
export function readSupportLines(text: string): SupportTable {
  const lines = text.split('\n')
  const valueOf = (browser: Browser) => lines.find((line) => line.startsWith(`${browser} `))?.slice(browser.length + 1)
  return Object.fromEntries(browsers.map((browser) => [browser, valueOf(browser) ?? 'unknown'])) as SupportTable
}
