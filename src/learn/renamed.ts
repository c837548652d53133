import type { DemonstratedEpisode, Message, Rng, Task } from '../core/index.ts'

/** Names that training tasks speak of, and what each demonstration speaks of: enough to tell it of something else. */
export interface Names {
  /** Names that can stand for another, without repetition. */
  readonly pool: readonly string[]
  /** For each demonstration, the names in it that can be replaced. */
  readonly inEach: readonly (readonly string[])[]
}

/**
 * Finds names: what a demonstration's instruction says and its calls repeat word for word, as the key of an order or the
 * title of a document. Others of the kind are what training instructions of the same wording have in its place, and where
 * names are single words, words that hardly another instruction has.
 */
export function namesIn(
  demonstrations: readonly DemonstratedEpisode[],
  train: readonly Pick<Task, 'instruction'>[],
): Names {
  const inEach = demonstrations.map(repeated)
  const pool = new Set(inEach.flat())
  const shown = demonstrations.map(instructionOf)
  const instructions = [...new Set(train.map(({ instruction }) => instruction))]
  for (const [i, names] of inEach.entries()) {
    const [name] = names
    const asked = shown[i] ?? ''
    if (names.length !== 1 || name === undefined) continue
    const [before, after, more] = asked.split(name)
    if (before === undefined || after === undefined || more !== undefined) continue
    for (const instruction of instructions) {
      if (instruction.length <= before.length + after.length) continue
      if (!instruction.startsWith(before) || !instruction.endsWith(after)) continue
      const other = instruction.slice(before.length, instruction.length - after.length)
      if (other.length <= longest && other.trim() === other) pool.add(other)
    }
  }
  if (inEach.flat().every((name) => !/\s/.test(name))) {
    const uses = new Map<string, number>()
    const words = instructions.map(wordsOf)
    for (const all of words) for (const word of new Set(all)) uses.set(word, (uses.get(word) ?? 0) + 1)
    const rare = Math.max(1, Math.ceil(instructions.length / 500))
    for (const [word, count] of uses) if (count <= rare && word.length <= longest) pool.add(word)
  }
  return { pool: [...pool], inEach }
}

/** Longest name, in UTF-16 code units. */
const longest = 80

const wordsOf = (instruction: string): readonly string[] =>
  instruction.split(/\s+/).flatMap((word) => word.replace(/^["'(]+|["'?!.,:;]+$/g, '') || [])

/** What is asked in a demonstration: its task's words, else the first that the user says. */
export const instructionOf = ({ messages, task }: DemonstratedEpisode): string =>
  task?.instruction ?? messages.find(({ role }) => role === 'user')?.content ?? ''

/** Arguments of calls that the instruction holds word for word. */
function repeated(demonstration: DemonstratedEpisode): readonly string[] {
  const instruction = instructionOf(demonstration)
  const found = new Set<string>()
  for (const message of demonstration.messages) {
    if (message.role !== 'assistant') continue
    for (const { arguments: given } of message.toolCalls ?? []) {
      if (typeof given !== 'object' || given === null) continue
      for (const value of Object.values(given)) {
        if (typeof value === 'string' && value.length > 1 && value.length <= longest && standsIn(value, instruction)) {
          found.add(value)
        }
      }
    }
  }
  return [...found]
}

/** The name where it stands for itself, and not as a part of a longer one. */
const wholly = (name: string) =>
  new RegExp(
    `(?<![\\p{L}\\p{N}_])(?<![\\p{L}\\p{N}][.-])${escaped(name)}(?![\\p{L}\\p{N}_])(?![.-][\\p{L}\\p{N}])`,
    'gu',
  )
const escaped = (text: string) => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
const standsIn = (name: string, text: string) => wholly(name).test(text)

/** The demonstration told of other things: each of its names replaced wherever it stands, in what is asked, done and seen. */
export function renamed(
  { messages }: DemonstratedEpisode,
  names: readonly string[],
  pool: readonly string[],
  random: Rng,
): DemonstratedEpisode {
  const taken = new Set(names)
  const replacements = names.flatMap((name) => {
    for (let tries = 0; tries < 8; tries++) {
      const other = pool[random.int(pool.length)]
      if (other === undefined || taken.has(other)) continue
      taken.add(other)
      return [{ pattern: wholly(name), other }]
    }
    return []
  })
  const inText = (text: string) =>
    replacements.reduce((told, { pattern, other }) => told.replace(pattern, () => other), text)
  return { messages: messages.map((message) => told(message, inText)) }
}

function told(message: Message, inText: (text: string) => string): Message {
  const content = inText(message.content)
  if (message.role !== 'assistant' || !message.toolCalls) return { ...message, content }
  const toolCalls = message.toolCalls.map((call) => ({
    ...call,
    arguments: Object.fromEntries(
      Object.entries(call.arguments).map(([key, value]) => [key, typeof value === 'string' ? inText(value) : value]),
    ),
  }))
  return { ...message, content, toolCalls }
}
