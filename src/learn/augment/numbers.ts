import type { DemonstratedEpisode, Message, Rng } from '../../core/index.ts'
import { argumentsOf, instructionOf } from './retell.ts'

/** What each number of an episode is told as. */
export type OtherNumbers = ReadonlyMap<string, string>

const digits = /\d+/g
const longest = 9
/** 0 and 1 often mean none and one, and stay. */
const least = 2
/** Where the agent may count, numbers of one digit stay: a count can equal what a tool says by chance. */
const leastBesideCounts = 10

/**
 * Other numbers for those that tools say and the instruction does not: as long as they were, equal where they were equal,
 * and in the same order. What looks a number up learns to copy it, and what compares numbers still compares right. Numbers of
 * one digit stay where the agent says one beside others: it can be their count.
 */
export function otherNumbers(episode: DemonstratedEpisode, random: Rng): OtherNumbers {
  const asked = new Set(instructionOf(episode).match(digits))
  const from = episode.messages.some(mayCount) ? leastBesideCounts : least
  const said = episode.messages.flatMap(({ role, content }) => (role === 'tool' ? (content.match(digits) ?? []) : []))
  const byLength = new Map<number, string[]>()
  for (const number of new Set(said)) {
    if (asked.has(number) || number.length > longest || number.startsWith('0') || Number(number) < from) continue
    byLength.set(number.length, [...(byLength.get(number.length) ?? []), number])
  }
  const pairs = [...byLength].flatMap(([length, numbers]) => {
    const others = drawn(numbers.length, length, asked, random)
    return numbers.toSorted().map((number, i): [string, string] => [number, others[i] ?? number])
  })
  return new Map(pairs)
}

/** Whether the agent says a number of one digit beside others. */
function mayCount(message: Message): boolean {
  if (message.role !== 'assistant') return false
  return [message.content, ...argumentsOf(message).map(({ text }) => text)].some((text) => {
    const numbers = text.match(digits) ?? []
    return numbers.length > 1 && numbers.some((number) => number.length === 1 && Number(number) >= least)
  })
}

/** Different numbers of one length that are not asked for, in order; none where there are hardly as many. */
function drawn(count: number, length: number, asked: ReadonlySet<string>, random: Rng): readonly string[] {
  const from = length === 1 ? least : 10 ** (length - 1)
  const to = 10 ** length
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
