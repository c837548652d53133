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

export const notArchivable = (number: number, why: string): MemoryError =>
  new MemoryError({
    code: 'memory/not-archivable',
    message: `Item ${number} ${why}.`,
    hint: 'An archive has one owner, its `tenant`. What persons taught stays in the memory itself: erasing reaches it there.',
  })

export const noMemoryArchive = (folder: string): MemoryError =>
  new MemoryError({
    code: 'memory/no-archive-of-items',
    message: `The archive ${folder} holds no items of a memory.`,
    hint: 'Give the folder that buildMemoryArchive built.',
  })

export const noArchive = (id: string): MemoryError =>
  new MemoryError({
    code: 'memory/no-archive',
    message: `The memory recalls from the archive ${id}, which is not given here.`,
    hint: 'Open its folder with openMemoryArchive, and give it to memory() and caseUtility() in `archives`, or in `earlierArchives` of memory() where it serves earlier Versions only.',
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

/** @throws MemoryError for vectors of another embedder, by name or by size. */
export function assertSameEmbedder(
  made: { readonly name: string; readonly dimensions: number },
  given: { readonly name: string; readonly dimensions: number },
): void {
  if (made.name !== given.name) throw otherEmbedder(made.name, given.name)
  if (made.dimensions !== given.dimensions) throw otherDimensions(given.name, given.dimensions, made.dimensions)
}
