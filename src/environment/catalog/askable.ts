import type { Corpus } from '../search/corpus.ts'
import { type Attribute, attributes } from './attributes.ts'
import type { Part } from './parts.ts'

/** A part that questions may be about. */
export interface AskablePart {
  readonly part: Part
  /** Attributes in which every part listed beside it has another value: to read one by mistake is to answer wrongly. */
  readonly attributes: readonly Attribute[]
  /** Whether a search for its name lists it before the others. */
  readonly listedFirst: boolean
}

/**
 * The parts of `parts` whose search lists no part of another split, so that none is met before its time.
 * @param corpus holds a document for every part of every split.
 */
export function askableParts(parts: readonly Part[], corpus: Corpus): AskablePart[] {
  const byName = new Map(parts.map((part) => [part.name, part]))
  return parts.flatMap((part) => {
    const hits = corpus.search(part.name)
    const listed = hits.flatMap((hit) => byName.get(hit) ?? [])
    if (listed.length < hits.length) return []
    const others = listed.filter((other) => other !== part)
    const told = attributes.filter((attribute) =>
      others.every(({ values }) => values[attribute] !== part.values[attribute]),
    )
    return [{ part, attributes: told, listedFirst: hits[0] === part.name }]
  })
}
