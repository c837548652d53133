import { joined, keepsLocked, type Piece, piecesOf } from './locked.ts'
import { TextError } from './text-error.ts'

/** A text in which one part after the other is written anew, and the rest stays. */
export class Components {
  readonly #locked: readonly string[]
  readonly #served: readonly Piece[]

  /** @throws TextError for locked parts that do not stand in the text, and where they leave nothing to change. */
  constructor(served: string, locked: readonly string[]) {
    this.#locked = locked
    this.#served = piecesOf(served, locked)
    if (this.count > 0) return
    throw new TextError({
      code: 'text/nothing-to-change',
      message: 'All of the text is locked, or it is empty: there is nothing to write anew.',
      hint: 'Lock less of it, or begin with a text of a few words.',
    })
  }

  /** Parts that may change, ≥ 1. */
  get count(): number {
    return this.#served.filter(({ locked }) => !locked).length
  }

  /** The words of one part, without the white space around them. @param index below {@link count}. */
  part(text: string, index: number): string {
    return this.#free(text)[index]?.text.trim() ?? ''
  }

  /** The text with one part written anew; `null` where that would lose what must stay. */
  replaced(text: string, index: number, part: string): string | null {
    const target = this.#free(text)[index]
    if (target === undefined) return null
    const kept = target.text.trim()
    const [before = '', after = ''] = [target.text.match(/^\s*/)?.[0], target.text.match(/\s*$/)?.[0]]
    if (part.trim() === '' || !placeholdersOf(kept).every((one) => part.includes(one))) return null
    const pieces = piecesOf(text, this.#locked)
    const proposed = joined(
      pieces.map((piece) =>
        piece.from === target.from ? { ...piece, text: `${before}${part.trim()}${after}` } : piece,
      ),
    )
    return keepsLocked(proposed, this.#served) ? proposed : null
  }

  #free(text: string): readonly Piece[] {
    return piecesOf(text, this.#locked).filter(({ locked }) => !locked)
  }
}

/** What programs fill in: `{name}` and `{{name}}`. */
const placeholdersOf = (text: string): readonly string[] => text.match(/\{\{?[\w.-]+\}?\}/g) ?? []
