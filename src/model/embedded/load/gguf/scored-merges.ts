import { MalformedGgufError } from './malformed-gguf-error.ts'
import { tokenTypes, typeOf, type Vocabulary } from './vocabulary.ts'

/** Longer pieces than any vocabulary has; all ways to part a piece are tried. */
const maxPieceLength = 256

/**
 * SentencePiece joins the two neighbours whose piece has the highest score. As a list of merges, best first: every way to
 * part a piece into two pieces, in the order of the pieces' scores.
 * @throws MalformedGgufError without scores, or with a piece of absurd length.
 */
export function scoredMerges(vocabulary: Vocabulary): readonly (readonly [string, string])[] {
  const { tokens, scores } = vocabulary
  if (scores === undefined) throw new MalformedGgufError('it has no tokenizer.ggml.scores')
  const isPiece = (token: number) => typeOf(vocabulary, token) === tokenTypes.normal
  const pieces = new Map(tokens.flatMap((piece, token) => (isPiece(token) ? [[piece, token] as const] : [])))
  const merges: { readonly pair: readonly [string, string]; readonly score: number }[] = []
  for (const [piece, token] of pieces) {
    if (piece.length > maxPieceLength)
      throw new MalformedGgufError(
        `its token ${token} has ${piece.length} characters, and at most ${maxPieceLength} are allowed`,
      )
    const score = scores[token] ?? 0
    for (let cut = 1; cut < piece.length; cut++) {
      const [left, right] = [piece.slice(0, cut), piece.slice(cut)]
      if (pieces.has(left) && pieces.has(right)) merges.push({ pair: [left, right], score })
    }
  }
  return merges.sort((a, b) => b.score - a.score).map(({ pair }) => pair)
}
