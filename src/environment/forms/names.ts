import type { Split } from '../../core/index.ts'
import { splitByHash } from '../split-by-hash.ts'

/** Names that the tasks of one split are about; no other split has any of them. */
export interface FormsNames {
  readonly customers: readonly string[]
  readonly items: readonly string[]
  /** Numbers of pieces below ten, and from ten on. */
  readonly counts: { readonly few: readonly number[]; readonly many: readonly number[] }
}

// Words of one to three tokens in small vocabularies, with the space before them.
const firstNames =
  'Anna Paul Emma Luke Sara Peter Lisa David Ruth Simon Clara Henry Laura Oscar Julia Frank Ella George'
const lastNames = 'Stone Rice Wolf Bird Moore Gray Brook Field Marsh Page Rose Price Cross Long Hart Wells Frost Swift'
const makes =
  'city forest desert island metal glass paper cotton leather plastic stone grey gold fast slow quiet smart mini'
const things =
  'printer heater mixer oven fridge drill scale lamp sofa chair mirror camera scooter bike boat engine pump fan'

/**
 * Customers of two names and items of two words, dealt to the splits by hash: about 60, 20 and 20 in a hundred. Held-out
 * names are made of words that training has, and never occur in it as a whole; held-out numbers occur nowhere else.
 */
export function namesOf(split: Split): FormsNames {
  const own = (names: readonly string[]) =>
    names.filter((name) => splitByHash(name, { train: 60, validation: 20 }) === split)
  return { customers: own(pairs(firstNames, lastNames)), items: own(pairs(makes, things)), counts: counts[split] }
}

const counts: Readonly<Record<Split, FormsNames['counts']>> = {
  train: { few: [2, 3, 5, 6, 8], many: [10, 12, 15, 16, 20, 24, 40] },
  validation: { few: [4], many: [13, 25] },
  holdout: { few: [7, 9], many: [11, 14, 18, 30] },
}

const pairs = (first: string, second: string): string[] =>
  first.split(' ').flatMap((a) => second.split(' ').map((b) => `${a} ${b}`))
