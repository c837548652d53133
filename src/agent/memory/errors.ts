import { KindError } from '../errors.ts'

/** A memory, an item of it, or a vector is not what it has to be. */
export class MemoryError extends KindError {}

export const itemTooLarge = (what: string, bytes: number, most: number): MemoryError =>
  new MemoryError({
    code: 'memory/item-too-large',
    message: `The ${what} of a memory item has ${bytes} bytes; at most ${most} are kept.`,
    hint: 'Keep what was learned in a few sentences, and large data where a tool can look it up.',
  })

export const badMemory = (message: string): MemoryError =>
  new MemoryError({
    code: 'memory/bad-options',
    message,
    hint: 'Look at the bounds of MemoryOptions: a memory that cannot be is refused before anything runs.',
  })

export const archiveOfSeveral = (id: string): MemoryError =>
  new MemoryError({
    code: 'memory/archive-owner',
    message: `The item ${id} is about a person, or has another owner than those before it.`,
    hint: 'Build an archive for each tenant, and keep what is about a person in the memory itself: there it can be erased.',
  })

export const noArchive = (id: string): MemoryError =>
  new MemoryError({
    code: 'memory/no-archive',
    message: `The memory recalls from the archive ${id}, which is not given here.`,
    hint: 'Open its folder with openMemoryArchive, and give it to memory({ archives }) and to caseUtility({ archive }).',
  })

export const otherDimensions = (name: string, expected: number, found: number): MemoryError =>
  new MemoryError({
    code: 'memory/other-dimensions',
    message: `The embedder "${name}" gives vectors of ${expected} numbers, and one has ${found}.`,
    hint: 'Use one embedder for one memory; to change it, declare the memory anew and let it learn again.',
  })

export const otherEmbedder = (made: string, given: string): MemoryError =>
  new MemoryError({
    code: 'memory/other-embedder',
    message: `The memory was made with the embedder "${made}", and "${given}" reads it.`,
    hint: 'Declare it with the embedder that made it: vectors of two embedders say nothing of each other.',
  })
