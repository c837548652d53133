import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { CompatData, Identifier } from '@mdn/browser-compat-data'
import type { Split } from '../../../core/index.ts'
import { splitByHash } from '../../split-by-hash.ts'
import { type SupportTable, supportTable } from './support.ts'
import { type FeaturePath, titles } from './title.ts'

/** One feature of the web platform: a document of the corpus. */
export interface Feature {
  /** Dotted path in the data: stable, unique. */
  readonly id: string
  readonly title: string
  /** What it belongs to: its interface, CSS property, element …. A family lies in one split as a whole. */
  readonly family: string
  readonly split: Split
  readonly support: SupportTable
}

/** The areas of the web platform in the data; browser extensions and media types are left out. */
const areas = [
  'api',
  'css',
  'html',
  'http',
  'javascript',
  'manifests',
  'mathml',
  'svg',
  'webassembly',
  'webdriver',
] as const

/** Every feature of `@mdn/browser-compat-data` (18,848 in version 8.1.9), in the data's order. */
export function readFeatures(): Feature[] {
  const file = createRequire(import.meta.url).resolve('@mdn/browser-compat-data')
  const data = JSON.parse(readFileSync(file, 'utf8')) as CompatData
  const found = areas.flatMap((area) => [...walk(data[area], [area])])
  const names = titles(found.map(({ path }) => path))
  const splits = new Map<string, Split>()
  return found.map(({ path, support }, i) => {
    const family = familyOf(path)
    const split = splits.get(family) ?? splitOf(family)
    splits.set(family, split)
    return { id: path.join('.'), title: names[i] ?? '', family, split, support }
  })
}

function* walk(node: Identifier, path: FeaturePath): Generator<{ path: FeaturePath; support: SupportTable }> {
  const { __compat: statement, __meta: _source, ...children } = node
  if (statement !== undefined) yield { path, support: supportTable(statement.support) }
  for (const [name, child] of Object.entries(children)) yield* walk(child, [...path, name])
}

/** `api.MLGraphBuilder` for its methods, `css.properties.aspect-ratio` for its values. */
function familyOf(path: FeaturePath): string {
  return path.slice(0, path[0] === 'api' ? 2 : 3).join('.')
}

/** 65 % of families train, 15 % validate, 20 % are held out; by hash, so that no seed and no new feature moves one. */
function splitOf(family: string): Split {
  return splitByHash(family, { train: 65, validation: 15 })
}
