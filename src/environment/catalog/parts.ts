import { rng, type Split } from '../../core/index.ts'
import { present } from '../../errors/index.ts'
import type { Document } from '../search/corpus.ts'
import { splitByHash } from '../split-by-hash.ts'
import { siblingValues, type Values, valueLines } from './attributes.ts'

/** One spare part: a document of the catalogue. */
export interface Part {
  readonly name: string
  readonly split: Split
  readonly values: Values
}

const places = `water solar wind steel air oil gas car door road garden paper hand foot power light city ocean`.split(
  ' ',
)
const things =
  `pump tank engine sensor filter lock wheel motor belt chain cable fan gear spring cap bar frame plug`.split(' ')
const sizes = [10, 12, 15, 18, 20, 30, 50, 100] as const

/**
 * The whole catalogue, the same for every seed: 324 groups of five similar parts, as `water pump`, `water pump 12`
 * and `water pump 50`. A group lies in one split as a whole.
 */
export function catalogParts(): Part[] {
  return places.flatMap((place) => things.flatMap((thing) => group(`${place} ${thing}`)))
}

function group(base: string): Part[] {
  const random = rng('catalog', base)
  const names = [
    base,
    ...random
      .shuffle(sizes)
      .slice(0, 4)
      .map((size) => `${base} ${size}`),
  ]
  const values = siblingValues(names.length, random)
  const split = splitOf(base)
  return names.map((name, at) => ({ name, split, values: present(values[at], 'values') }))
}

/** 60 % of the groups train, 15 % validate, 25 % are held out; by hash, so that no new part moves one. */
function splitOf(base: string): Split {
  return splitByHash(base, { train: 60, validation: 15 })
}

/** A part as a search environment holds it. */
export function partDocument({ name, values }: Part): Document {
  return { id: name.replaceAll(' ', '-'), title: name, lines: valueLines(values) }
}
