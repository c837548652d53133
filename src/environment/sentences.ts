import { InvariantError } from '../errors/index.ts'

/** Ways to ask for each kind of task, with `{slot}` where a name stands. Give every slot a space before it: names are then spelled alike wherever they stand. */
export type Wordings<Kind extends string> = Readonly<Record<Kind, readonly string[]>>

/** One way to ask for one kind of task. */
export interface Sentence<Kind extends string> {
  readonly kind: Kind
  /** The kind and the words around the slots: `find: Where is the …?` */
  readonly family: string
  /** The words with the slots filled. */
  readonly say: (slots: Readonly<Record<string, string>>) => string
}

/** All sentences. Kinds take turns, so that the first few have some of every kind. */
export function sentencesOf<Kind extends string>(wordings: Wordings<Kind>): readonly Sentence<Kind>[] {
  const kinds = Object.entries<readonly string[]>(wordings) as [Kind, readonly string[]][]
  const most = Math.max(...kinds.map(([, ways]) => ways.length))
  return Array.from({ length: most }, (_, at) => at).flatMap((at) =>
    kinds.flatMap(([kind, ways]) => {
      const words = ways[at]
      return words === undefined ? [] : [sentenceOf(kind, words)]
    }),
  )
}

const slot = /\{(\w+)\}/g

/** A way to ask for one kind of task, with `{slot}` where a name stands. */
export function sentenceOf<Kind extends string>(kind: Kind, words: string): Sentence<Kind> {
  return {
    kind,
    family: `${kind}: ${words.replace(slot, '…')}`,
    say: (slots) => filled(words, slots),
  }
}

/** Words with their slots filled in one pass: what is put in is never read as a slot. */
export const filled = (words: string, slots: Readonly<Record<string, string>>): string =>
  words.replace(slot, (_, name: string) => {
    const value = Object.hasOwn(slots, name) ? slots[name] : undefined
    if (value === undefined) throw new InvariantError(`"${words}" needs a ${name}`)
    return value
  })
