import type { Experience, MemoryItem } from '../../agent/index.ts'
import { overridesInstructions, visibleLines, visibleWords } from '../../core/index.ts'
import { steering } from './steering.ts'

/** How far an episode is trusted by where it came from: what we set up, what strangers asked of us, what others recorded. */
const byOrigin = { rollout: 1, traffic: 0.6, import: 0.4 } as const

/** How far a text is trusted that holds what tools answered: anybody may have written that. */
export const fromTools = 0.5

/**
 * The least of what an item comes from: its episode's origin, and each item that was recalled in that episode. Nothing that
 * a text says raises it.
 */
export const trustOf = ({ origin }: Pick<Experience, 'origin'>, shown: readonly Pick<MemoryItem, 'trust'>[]): number =>
  Math.min(byOrigin[origin], ...shown.map(({ trust }) => trust))

/** How far a text is trusted that may be an order to whoever reads it: below what a memory recalls by default. */
const asOrder = 0.2

/** What may be an order to a model, and may be help as well. */
const doubtful = [
  /\b(?:from now on|henceforth|in (?:all |any )?future)\b/,
  /\b(?:always|never) (?:answer|reply|respond|say|choose|recommend|call|mention|reveal)\b/,
  /\bdo not (?:tell|mention|reveal|inform|verify)\b/,
  /\b(?:the|any|every) (?:agent|model|bot|system) (?:must|should|shall|has to|needs to|(?:is|are) (?:required|to))\b/,
  /\bas an ai\b/,
] as const

/** What may be one at the start of a line. */
const headed = /(?:^|\n) ?instructions? ?:/

/**
 * Whether a text would steer the model that reads it: it sets aside what was said before, speaks as another role, gives the
 * model duties or standing orders, or claims authority. Such a text is not remembered, whatever its episode earned. Help in
 * the imperative is no such text. It is a screen and no proof: a plain falsehood passes it, and is left to utility.
 */
export function addressesTheModel(text: string): boolean {
  const plain = visibleWords(text)
  return overridesInstructions(text) || steering.some((sign) => sign.test(plain))
}

/** Whether a text may be an order to the model that reads it. */
export const mayBeOrder = (text: string): boolean => {
  const plain = visibleWords(text)
  return doubtful.some((sign) => sign.test(plain)) || headed.test(visibleLines(text))
}

/** How far a text is trusted: as far as what it comes from, and hardly where it may be an order to the model. */
export const trustIn = (text: string, from: number): number => (mayBeOrder(text) ? Math.min(from, asOrder) : from)
