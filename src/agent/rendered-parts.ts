import { type Message, rememberedBy, type Span } from '../core/index.ts'

/** Tokens of messages that were rendered together, as far as they are of one origin. */
export interface RenderedPart {
  readonly tokens: readonly number[]
  /** Whether they stand there only because something was recalled. */
  readonly recalled: boolean
}

/**
 * Renders messages, and tells which tokens stand there only because something was recalled: without them the others are, token
 * by token, what the same messages without the recalled ones would be. Where no such tokens can be told, because a template
 * says something else beside a recalled message, all of them are of one origin.
 * @param render lays messages out as tokens; it is asked once more for each message that was recalled.
 */
export function renderedParts(
  messages: readonly Message[],
  render: (messages: readonly Message[]) => readonly number[],
): readonly RenderedPart[] {
  const whole = render(messages)
  const recalled = new Set<number>()
  let [left, tokens] = [messages, whole]
  /** Where the tokens that are left stand in the whole. */
  let places: readonly number[] = whole.map((_, place) => place)
  for (;;) {
    const last = left.findLastIndex(isRecalled)
    if (last < 0) return partsOf(whole, recalled)
    left = left.toSpliced(last, 1)
    const without = left.length === 0 ? null : render(left)
    const piece = without && pieceIn(tokens, without)
    // A conversation of nothing is no prompt, either.
    if (!piece) return [{ tokens: whole, recalled: false }]
    for (const place of places.slice(piece.from, piece.to)) recalled.add(place)
    places = places.toSpliced(piece.from, piece.to - piece.from)
    tokens = without
  }
}

/** As spans of a node; none where there is nothing. */
export function spansOf(parts: readonly RenderedPart[]): Span[] {
  const spans: Span[] = []
  let was: boolean | null = null
  for (const { tokens, recalled } of parts) {
    if (tokens.length === 0) continue
    const before = spans.at(-1)
    if (before && was === recalled) before.tokens = before.tokens.concat(tokens)
    else spans.push({ kind: 'encoded', tokens: [...tokens], ...(recalled && { recalled }) })
    was = recalled
  }
  return spans
}

const isRecalled = (message: Message): boolean => message.role === 'user' && message.name === rememberedBy

/** The one piece that tokens have more than others; `null` where they differ otherwise. */
function pieceIn(tokens: readonly number[], without: readonly number[]): { from: number; to: number } | null {
  let from = 0
  while (from < without.length && tokens[from] === without[from]) from++
  const to = from + tokens.length - without.length
  const isSame = to >= from && without.slice(from).every((token, i) => tokens[to + i] === token)
  return isSame ? { from, to } : null
}

function partsOf(tokens: readonly number[], recalled: ReadonlySet<number>): readonly RenderedPart[] {
  const parts: RenderedPart[] = []
  let from = 0
  for (let to = 1; to <= tokens.length; to++) {
    const is = recalled.has(from)
    if (to < tokens.length && recalled.has(to) === is) continue
    parts.push({ tokens: tokens.slice(from, to), recalled: is })
    from = to
  }
  return parts
}
