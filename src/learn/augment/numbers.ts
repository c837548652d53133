import type { DemonstratedEpisode, Rng } from '../../core/index.ts'
import { argumentsOf } from './retell.ts'
import { askedIn, digits, givesFraction, least, mayCount, saidByTools, untoldIn } from './said-numbers.ts'

/** What each number of an episode is told as. */
export type OtherNumbers = ReadonlyMap<string, string>

const longest = 9
/** Where the agent may count, numbers of one digit stay: a count can equal what a tool says by chance. */
const leastBesideCounts = 10

/**
 * Other numbers for those that tools say and nobody asks for: as long as they were, equal where they were equal, and in the
 * same order, also beside the numbers that are asked for. What looks a number up learns to copy it, and what compares numbers
 * still compares right. Numbers of one digit stay where the agent says one beside others: it can be their count. All stay
 * where it says one that nobody told it: it can be computed from them.
 * @param constants numbers that the agent says by rule, and does not compute.
 * @param chosen what calls give to arguments whose values a schema lists: numbers in it stay.
 */
export function otherNumbers(
  episode: DemonstratedEpisode,
  random: Rng,
  constants: ReadonlySet<string> = new Set(),
  chosen: ReadonlySet<string> = new Set(),
): OtherNumbers {
  const asked = askedIn(episode)
  const stay = new Set([...chosen].flatMap((text) => text.match(digits) ?? []))
  if (givesFraction(episode) || [...untoldIn(episode)].some((number) => !constants.has(number))) return new Map()
  const from = episode.messages.some(mayCount) ? leastBesideCounts : least
  const byLength = new Map<number, string[]>()
  for (const number of saidByTools(episode)) {
    if (
      asked.has(number) ||
      stay.has(number) ||
      number.length > longest ||
      number.startsWith('0') ||
      Number(number) < from
    )
      continue
    byLength.set(number.length, [...(byLength.get(number.length) ?? []), number])
  }
  const given = episode.messages.flatMap(argumentsOf).filter(({ isNumber }) => !isNumber)
  const named = new Set(given.flatMap(({ text }) => text.match(digits) ?? []))
  const bounds = [...asked].filter((number) => !named.has(number))
  const pairs = [...byLength].flatMap(([length, numbers]) =>
    between(numbers.toSorted(), bounds.filter((bound) => bound.length === length).toSorted()).flatMap(
      ({ inside, above, below }) => {
        const others = drawn(inside.length, { above, below, length }, asked, random)
        return inside.map((number, i): [string, string] => [number, others[i] ?? number])
      },
    ),
  )
  return new Map(pairs)
}

/** Numbers between two neighbours of those that bound them; `null`: nothing does. */
interface Between {
  readonly inside: readonly string[]
  readonly above: string | null
  readonly below: string | null
}

/** Numbers of one length, cut where bounds of that length lie between them; both in order. */
const between = (numbers: readonly string[], bounds: readonly string[]): readonly Between[] =>
  [null, ...bounds].flatMap((above, i) => {
    const below = bounds[i] ?? null
    const inside = numbers.filter((one) => (above === null || one > above) && (below === null || one < below))
    return inside.length === 0 ? [] : [{ inside, above, below }]
  })

/** Different numbers of one length that are not asked for, in order; none where there are hardly as many. */
function drawn(
  count: number,
  { length, above, below }: Pick<Between, 'above' | 'below'> & { readonly length: number },
  asked: ReadonlySet<string>,
  random: Rng,
): readonly string[] {
  const from = Math.max(length === 1 ? least : 10 ** (length - 1), above === null ? 0 : Number(above) + 1)
  const to = below === null ? 10 ** length : Number(below)
  if (to - from < 2 * (count + asked.size)) return []
  const numbers = new Set<number>()
  while (numbers.size < count) {
    const number = from + random.int(to - from)
    if (!asked.has(String(number))) numbers.add(number)
  }
  return [...numbers].toSorted((a, b) => a - b).map(String)
}

/** A text with its numbers told otherwise. */
export const renumbered = (text: string, others: OtherNumbers): string =>
  text.replace(digits, (number) => others.get(number) ?? number)
