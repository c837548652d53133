import { TextError } from './text-error.ts'

/** A piece of a text: one that stays byte for byte, or one that may change. */
export interface Piece {
  readonly locked: boolean
  readonly text: string
  /** Where it begins. */
  readonly from: number
}

/**
 * Splits a text at what must stay. Pieces that may change stand between, and before and after; those without a word are left
 * as they are.
 * @param locked exact parts of the text, in any order; each stands in it once.
 * @throws TextError (`text/locked-span`) for one that does not, and for two that overlap.
 */
export function piecesOf(text: string, locked: readonly string[]): readonly Piece[] {
  const spans = locked
    .map((span) => ({ from: placeOf(span, text), to: placeOf(span, text) + span.length, span }))
    .toSorted((a, b) => a.from - b.from)
  const pieces: Piece[] = []
  let at = 0
  for (const { from, to, span } of spans) {
    if (from < at) throw badSpan(span, 'overlaps another locked part')
    pieces.push(freePiece(text.slice(at, from), at), { locked: true, text: span, from })
    at = to
  }
  return [...pieces, freePiece(text.slice(at), at)].filter((piece) => piece.text !== '')
}

/** The text that pieces make. */
export const joined = (pieces: readonly Pick<Piece, 'text'>[]): string => pieces.map(({ text }) => text).join('')

/** Whether each locked part stands in a text once, and in the order in which it stood before. */
export function keepsLocked(text: string, before: readonly Piece[]): boolean {
  let at = 0
  for (const piece of before) {
    if (!piece.locked) continue
    const from = text.indexOf(piece.text)
    if (from < at || text.indexOf(piece.text, from + 1) !== -1) return false
    at = from + piece.text.length
  }
  return true
}

const freePiece = (text: string, from: number): Piece => ({ locked: text.trim() === '', text, from })

function placeOf(span: string, text: string): number {
  if (span === '') throw badSpan(span, 'is empty')
  const from = text.indexOf(span)
  if (from === -1) throw badSpan(span, 'does not stand in the text that serves')
  if (text.indexOf(span, from + 1) !== -1) throw badSpan(span, 'stands in it more than once')
  return from
}

const badSpan = (span: string, problem: string) =>
  new TextError({
    code: 'text/locked-span',
    message: `The locked part "${span.length > 80 ? `${span.slice(0, 79)}…` : span}" ${problem}.`,
    hint: 'Give parts of the text exactly as they stand in it, long enough to stand there once.',
  })
