import type { Rng, Task } from '../../core/index.ts'
import { usesOf, wordsOf } from './vocabulary.ts'

/** The most of its words that an instruction has changed, on average; each instruction draws how many up to that. */
const most = 0.4
/** Of the changes: a word left out, others put in before it, it moved elsewhere. The rest replaces it. */
const dropped = 0.2
const inserted = 0.25
const moved = 0.2
/** The probability that one more unknown word follows one. */
const continued = 0.35

/** Words that instructions use, each as often as they do; those that hardly another instruction has are none. */
export function wordsInUse(train: readonly Pick<Task, 'instruction'>[]): readonly string[] {
  const instructions = train.map(({ instruction }) => instruction)
  const uses = usesOf(instructions)
  const common = Math.max(2, train.length / 200)
  return instructions.flatMap(wordsOf).filter((word) => (uses.get(word) ?? 0) >= common)
}

/** What an instruction can be put into other words with. */
export class Wording {
  readonly #common: ReadonlySet<string>
  readonly #others: readonly (readonly string[])[]

  /** @param inUse the words that may be left out or replaced. @param others more words to put in: from each list as often. */
  constructor(inUse: readonly string[], others: readonly string[]) {
    this.#common = new Set(inUse)
    this.#others = [inUse, others].filter((words) => words.length > 0)
  }

  /**
   * An instruction in other words: some common ones left out, replaced by others, moved, or with others before them (random
   * deletion, replacement, swap and insertion: Wei & Zou 2019, EDA). What it is about then counts for more than how it is said.
   * @param kept texts that stay as they are, each in one piece. Names also stay in their order.
   */
  disturbed(instruction: string, kept: Kept, random: Rng): string {
    if (this.#common.size === 0 || instruction.trim() === '') return instruction
    const rate = most * random.next()
    const pieces = split(instruction, kept)
    const told = pieces.map((piece) => ({ ...piece, moves: random.next() < rate * moved }))
    const worded = told.flatMap((piece) => {
      if (random.next() >= rate * (1 - moved)) return [piece]
      const others = this.#some(random).map((text) => ({ text, kind: 'word' as const, moves: false }))
      const isCommon = piece.kind === 'word' && wordsOf(piece.text).every((word) => this.#common.has(word))
      const change = random.next() * (1 - moved)
      if (!isCommon || change < inserted) return [...others, piece]
      return change < inserted + dropped ? [] : others
    })
    for (const piece of worded.filter(({ moves }) => moves)) move(worded, piece, random)
    return worded.length === 0 ? instruction : worded.map(({ text }) => text).join(' ')
  }

  /** An instruction of which no episode tells what it is about, in other words: what few instructions say stays in one piece. */
  asked(instruction: string, random: Rng): string {
    return this.disturbed(instruction, { names: this.#uncommonIn(instruction), words: [] }, random)
  }

  /** Words that stand together and are not in common use. */
  #uncommonIn(instruction: string): readonly string[] {
    const runs: string[][] = [[]]
    for (const text of instruction.split(' ')) {
      if (wordsOf(text).every((word) => this.#common.has(word))) runs.push([])
      else runs.at(-1)?.push(text)
    }
    return runs.filter((run) => run.length > 1).map((run) => run.join(' '))
  }

  /** One other word, and sometimes more. */
  #some(random: Rng): readonly string[] {
    const words = this.#others[random.int(this.#others.length)] ?? []
    const word = words[random.int(words.length)] ?? ''
    return random.next() < continued ? [word, ...this.#some(random)] : [word]
  }
}

/** Takes a piece to another place; a name never past another name. */
function move(pieces: Piece[], piece: Piece, random: Rng): void {
  const from = pieces.indexOf(piece)
  const to = random.int(pieces.length)
  const passed = pieces.slice(Math.min(from, to), Math.max(from, to) + 1)
  if (piece.kind === 'name' && passed.some((one) => one !== piece && one.kind === 'name')) return
  pieces.splice(from, 1)
  pieces.splice(to, 0, piece)
}

/** Texts of an instruction that stay as they are. */
export interface Kept {
  /** What it is about. */
  readonly names: readonly string[]
  /** Words that tools or calls say, too. */
  readonly words: readonly string[]
}

/** A part of an instruction, with what follows it up to the next space. */
interface Piece {
  readonly text: string
  readonly kind: 'name' | 'said' | 'word'
}

function split(instruction: string, { names, words: said }: Kept): readonly Piece[] {
  const words = instruction.split(' ')
  const pieces: Piece[] = []
  for (let at = 0; at < words.length; ) {
    const rest = words.slice(at).join(' ')
    const longest = (kept: readonly string[]) =>
      kept.filter((text) => rest.startsWith(text)).reduce((most, text) => (text.length > most.length ? text : most), '')
    const [name, word] = [longest(names), longest(said)]
    const held = name.length >= word.length ? name : word
    const count = held === '' ? 1 : held.split(' ').length
    pieces.push({
      text: words.slice(at, at + count).join(' '),
      kind: held === '' ? 'word' : held === name ? 'name' : 'said',
    })
    at += count
  }
  return pieces
}
