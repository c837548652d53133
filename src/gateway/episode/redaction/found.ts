/** Where something that must not be written stands in a text: from `start`, up to and not with `end`. */
export interface Found {
  readonly start: number
  readonly end: number
}

/**
 * Finds one kind of text, from left to right, without overlaps. Texts are as long as requests may be, and as hostile: the
 * built-in ones look at each character a bounded number of times and never backtrack over a run of any length.
 */
export type Finder = (text: string) => Iterable<Found>

/** Every match of a pattern that is not empty, or those of them that `accept` says are what they look like. */
export function matches(pattern: RegExp, accept: (match: string) => boolean = () => true): Finder {
  return function* (text) {
    for (const { index, 0: match } of text.matchAll(pattern)) {
      if (match !== '' && accept(match)) yield { start: index, end: index + match.length }
    }
  }
}
