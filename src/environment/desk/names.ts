import type { Split } from '../../core/index.ts'
import { splitByHash } from '../split-by-hash.ts'

/** Names that the tasks of one split are about; no other split has any of them. */
export interface Names {
  readonly orders: readonly string[]
  readonly items: readonly string[]
  readonly customers: readonly string[]
}

// Words of one or two tokens in most vocabularies, with the space before them.
const makes =
  'small large tall wide long short round plain dark light old soft camp summer winter garden river star moon sea'
const things =
  'table chair desk cup plate clock rug bed box bag bench vase pan pot tent coat hat shirt book mat fan radio toy ball'
const firstNames =
  'Maria John Mark Tom Tim Ben Max Leo Nina Kate Alice Bob Jack James Mary Jane Rose Adam Alan Carl Eric Sam Amy Lily'
const lastNames =
  'Berg Hill Lake Wood White Black Green King Young Park Ford Bell Cook Hall Lee Ross West Day Fox Cole Lane Reed Ward Snow'

/**
 * Order ids of three digits, items of two words and customers of two names, dealt to the splits by hash: about 70, 15 and
 * 15 in a hundred. Held-out names are made of words that training has, and never occur in it as a whole.
 */
export function namesOf(split: Split): Names {
  const own = (names: readonly string[]) => names.filter((name) => splitOf(name) === split)
  return {
    orders: own(Array.from({ length: 900 }, (_, i) => String(100 + i))),
    items: own(pairs(makes, things)),
    customers: own(pairs(firstNames, lastNames)),
  }
}

const pairs = (first: string, second: string): string[] =>
  first.split(' ').flatMap((a) => second.split(' ').map((b) => `${a} ${b}`))

function splitOf(name: string): Split {
  return splitByHash(name, { train: 70, validation: 15 })
}
