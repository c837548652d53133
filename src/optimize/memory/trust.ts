import type { Experience, MemoryItem } from '../../agent/index.ts'
import { overridesInstructions, visibleWords } from '../../core/index.ts'

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

/** How a text speaks to whoever reads it, not of what was done. */
const orders = [
  /\b(?:ignore|disregard|forget|override|bypass)\b.{0,40}\b(?:previous|prior|above|earlier|all|any|your|the|other)\b/,
  /\b(?:you|the (?:assistant|model|agent|ai|system))\s+(?:must|should|shall|have to|need to|are (?:now|required|to)|will now)\b/,
  /\b(?:from now on|in (?:all |any )?future|henceforth|whenever you|every time you|always (?:call|use|answer|reply|say|send|choose|respond|do)|never (?:call|use|answer|reply|say|tell|mention|reveal))\b/,
  /(?:^|\n)[^\S\n]*instructions?\s*:|\bas an ai\b/,
  /\bdo not (?:tell|mention|reveal|inform|ask|verify|check)\b/,
] as const

/**
 * Whether a text addresses the model as an instruction would. Such a text is not remembered, whatever its episode earned.
 * It is a screen and no proof: a plain falsehood passes it, and is left to utility.
 */
export function addressesTheModel(text: string): boolean {
  const plain = visibleWords(text)
  return overridesInstructions(text) || orders.some((order) => order.test(plain))
}
