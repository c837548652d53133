import type { Split } from '../../core/index.ts'
import { splitByHash } from '../split-by-hash.ts'

/** What a note's lines may begin with; a job follows one of them. */
export const keys = ['red', 'green', 'dark', 'light'] as const

/** Folders that notes are sorted into. */
export const shelves = ['home', 'school', 'museum', 'farm', 'park', 'market'] as const

/**
 * Names of notes, and what the last note of a trail says. Everyday words: with the space before them they are one token
 * of a small vocabulary, so that a small model can copy them.
 */
const nouns =
  `account action animal art balance beach body book building business campaign car case cell chain chat child
choice city class climate coffee company country course crop culture customer damage day design detail diet dog dream
drug energy engine event evidence example face fact family fashion fields fish flow food foot forest form frame friend
fund future game goal government ground group growth guide habit hand head health heart history hope hours house human
idea image impact industry input issue job journey knowledge land language law letter level life limit loss love machine
man material media message model money monitor movement music nature network news night novel number object ocean oil
option order organ paper parent path patient peace people person place plan planet plant plastic platform poem point
policy power practice problem process product program project quality quest question rain range reality region report
research restaurant revolution risk road robot role routine safety science sea season sense sentence service share sign
skin sleep society soil song sound source space speaker speech spirit spot state step story street stress structure
student study style subject success summary sun symbol system task team technology test text theme thought threat tone
topic tour track traffic transport travel treatment trip type value variety view voice walk waste water way weather wind
word work world year`.split(/\s+/)

/** The words of each split: no note of a held-out task has a name that training shows. */
export function wordsOf(split: Split): readonly string[] {
  return nouns.filter((noun) => splitOf(noun) === split)
}

/** 60 % of the words train, 20 % validate, 20 % are held out; by hash, so that no new word moves another. */
function splitOf(word: string): Split {
  return splitByHash(word, { train: 60, validation: 20 })
}
