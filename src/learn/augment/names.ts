import type { DemonstratedEpisode, Rng, Task } from '../../core/index.ts'
import { asPart, coinedName, type Coining, knownShare } from './coined.ts'
import {
  type Argument,
  type ArgumentPool,
  argumentsOf,
  instructionOf,
  listed,
  pooled,
  type Replacement,
  standsIn,
  wholly,
} from './retell.ts'
import { askedIn, givesFraction, saidByTools, untoldIn } from './said-numbers.ts'
import { usesOf } from './vocabulary.ts'

/** Longest name, in UTF-16 code units. */
const longest = 80
/** Fewer names to choose from would be learned by heart. */
const fewest = 8

/**
 * The names in an episode: what its instruction says and its calls repeat word for word, as the key of an order or the
 * title of a document, each with the argument that it is given to first; of names within names, the longer.
 */
export function namesOf(episode: DemonstratedEpisode): readonly Argument[] {
  const instruction = instructionOf(episode)
  const found = new Map<string, Argument>()
  const given = episode.messages.flatMap(argumentsOf)
  const numbers = new Set(given.filter(({ isNumber }) => isNumber).map(({ text }) => text))
  const keys = numbers.size === 0 ? numbers : keysAmong(numbers, episode)
  for (const { text, ...argument } of given) {
    const isNumber = numbers.has(text)
    if (found.has(text) || text.length < 2 || text.length > longest || (isNumber && !keys.has(text))) continue
    if (standsIn(text, instruction)) found.set(text, { ...argument, text, isNumber })
  }
  const names = [...found.values()]
  return names.filter(({ text }) => !names.some((other) => other.text !== text && standsIn(text, other.text)))
}

/** Numbers that can only be keys: nothing is computed, and nobody says another as long that one could be compared with. */
function keysAmong(numbers: ReadonlySet<string>, episode: DemonstratedEpisode): ReadonlySet<string> {
  if (untoldIn(episode).size > 0 || givesFraction(episode)) return new Set()
  const said = [...saidByTools(episode), ...askedIn(episode)]
  const isAlone = (number: string) => !said.some((one) => one !== number && one.length === number.length)
  return new Set([...numbers].filter((number) => isWhole(number) && number.length >= 3 && isAlone(number)))
}

/** Whether a text is what JSON writes for a whole number. */
const isWhole = (text: string): boolean => /^[1-9]\d{0,14}$/.test(text)

/**
 * Gathers names: those of demonstrations, what training instructions of the same wording have in their place, and where
 * names are single words and there is one kind of them, words that hardly another instruction has.
 */
export function poolOfNames(
  demonstrations: readonly DemonstratedEpisode[],
  train: readonly Pick<Task, 'instruction'>[],
): ArgumentPool {
  const pool = pooled(demonstrations.flatMap(namesOf))
  const instructions = [...new Set(train.map(({ instruction }) => instruction))]
  for (const demonstration of demonstrations) {
    const [name, ...more] = namesOf(demonstration)
    if (name === undefined || more.length > 0) continue
    for (const other of inItsPlace(instructionOf(demonstration), name.text, instructions))
      pool.get(name.given)?.add(other)
  }
  for (const names of pool.values()) for (const text of aroundNames(names)) names.delete(text)
  const [only, ...kinds] = pool.values()
  if (only && kinds.length === 0 && [...only].every((name) => !/\s/.test(name))) {
    for (const word of rareWords(instructions)) only.add(word)
  }
  return listed(pool)
}

/** What other instructions of the same wording say where this one says the name. */
function inItsPlace(instruction: string, name: string, others: readonly string[]): readonly string[] {
  const [before, after, more] = instruction.split(name)
  if (before === undefined || after === undefined || more !== undefined) return []
  return others.flatMap((other) => {
    if (other.length <= before.length + after.length) return []
    if (!other.startsWith(before) || !other.endsWith(after)) return []
    const found = other.slice(before.length, other.length - after.length)
    return found.length <= longest && found.trim() === found ? [found] : []
  })
}

/**
 * Texts that are no names, but say something around one: "the backup of Oak", where "the backup of Elm", "Oak" and "Elm" are
 * there, too. What is right for a name may not be for these.
 */
function aroundNames(names: ReadonlySet<string>): readonly string[] {
  const inner = new Map<string, Set<string>>()
  for (const text of names) {
    for (const { name, frame } of framesOf(text, names)) inner.set(frame, (inner.get(frame) ?? new Set()).add(name))
  }
  const frames = [...inner].flatMap(([frame, within]) => (within.size > 1 ? [frame.split(gap)] : []))
  return [...names].filter((text) =>
    frames.some(
      ([before = '', after = '']) =>
        text.length > before.length + after.length && text.startsWith(before) && text.endsWith(after),
    ),
  )
}

/** Where a name stands in a frame. */
const gap = '\0'

/** The names within a text, each with what stands around it: two words or more. */
function framesOf(text: string, names: ReadonlySet<string>) {
  const words = text.split(' ')
  const found: { readonly name: string; readonly frame: string }[] = []
  for (let from = 0; from < words.length; from++) {
    for (let to = from + 1; to <= words.length && to - from + 2 <= words.length; to++) {
      const name = words.slice(from, to).join(' ')
      if (!names.has(name)) continue
      const before = words.slice(0, from).map((word) => `${word} `)
      const after = words.slice(to).map((word) => ` ${word}`)
      found.push({ name, frame: [...before, gap, ...after].join('') })
    }
  }
  return found
}

function rareWords(instructions: readonly string[]): readonly string[] {
  const rare = Math.max(1, Math.ceil(instructions.length / 500))
  return [...usesOf(instructions)].flatMap(([word, count]) => (count <= rare && word.length <= longest ? [word] : []))
}

/** How often a name that nobody has is of the own one's shape; else of another's. */
const ownShape = 0.5

/**
 * Another name for each of an episode's: one that the same argument is given elsewhere, or one that nobody has; always that
 * where few are known. Where it has the own one's shape, other names that share its parts share those of the new one. A value
 * that a tool's schema lists stays: what is right after it can depend on it.
 */
export function otherNames(
  episode: DemonstratedEpisode,
  pool: ArgumentPool,
  { english, chosen }: Coining,
  random: Rng,
): readonly Replacement[] {
  const all = namesOf(episode)
  const names = all.filter(({ text }) => !chosen.has(text))
  const taken = new Set(all.map(({ text }) => text))
  const lines = episode.messages.flatMap(({ content }) => content.split('\n'))
  return names.flatMap(({ text, given, isNumber }) => {
    const others = pool.get(given) ?? []
    const some = () => others[random.int(others.length)] ?? text
    for (let tries = 0; tries < 8; tries++) {
      const known = others.length >= fewest && random.next() < knownShare
      const like = others.length >= fewest && random.next() >= ownShape ? some() : text
      const { name, parts } = known
        ? { name: some(), parts: new Map<string, string>() }
        : coinedName(like, english, random)
      // As long as it was, it lies on the same side of all others.
      if (isNumber && (!isWhole(name) || name.length !== text.length)) continue
      if (taken.has(name) || (!known && lines.some((line) => standsIn(name, line)))) continue
      taken.add(name)
      const shared = like === text ? [...parts].filter(([part]) => isOfNames(part, lines)) : []
      return [{ pattern: wholly(text), other: name }, ...shared.map(([part, other]) => asPart(part, other))]
    }
    return []
  })
}

/** Whether a part of a name stands only in names: it is no number, not short, and among other words it never stands for itself. */
const isOfNames = (part: string, lines: readonly string[]): boolean =>
  /^\p{L}{3,}$/u.test(part) && !lines.some((line) => line !== part && standsIn(part, line))
