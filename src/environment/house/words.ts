import type { Split } from '../../core/index.ts'
import { splitByHash } from '../split-by-hash.ts'

/** The room that all others lie behind, where every task begins. */
export const root = 'hall'

/** What things are put into. */
export const containerNames = ['chest', 'box', 'cabinet', 'drawer', 'basket', 'trunk', 'bag'] as const

// Words of one to three tokens in small vocabularies, with the space before them.
const rooms = `study museum school bar farm market store attic cellar office studio barn shed stable closet cave clinic
factory hotel gym lab yard pool roof stage shop dock bank court station garage library bedroom pantry workshop balcony
porch basement cabin tower vault theatre bakery prison`.split(/\s+/)
const nouns =
  `book comb letter pot fish paper watch cup ball bell clock ring coin map fork plate hat coat shoe glove drum
vase brush pen rope saw nail jar jug pan rug soap shell feather apple pear cheese egg tea cake flower leaf stick wheel
card toy kite phone radio camera shirt belt tie sword flag lamp bowl knife spoon towel mask pencil hammer blanket`.split(
    /\s+/,
  )
/** Two things of one house often share one of these; every split has all of them. */
export const qualities = [
  'brass',
  'tin',
  'new',
  'small',
  'big',
  'plastic',
  'long',
  'short',
  'dark',
  'light',
  'soft',
] as const

/** What the houses of one split are made of; no other split has any of these words. */
export interface HouseWords {
  readonly rooms: readonly string[]
  /** What things are called, after a quality: `lamp` of `brass lamp`. */
  readonly nouns: readonly string[]
}

/** The words of a split: 60 % train, 20 % validate, 20 % are held out. */
export function wordsOf(split: Split): HouseWords {
  const own = (words: readonly string[]) =>
    words.filter((word) => splitByHash(word, { train: 60, validation: 20 }) === split)
  return { rooms: own(rooms), nouns: own(nouns) }
}
