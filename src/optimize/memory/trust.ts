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

/** How far a text is trusted that may be an order to whoever reads it: enough to be recalled by default, and least of all. */
const asOrder = 0.3

/** What steers a model, beside what takes the place of its instructions. Help tells its reader what to do, too: that is none. */
const steering = [
  // What was said before counts no more.
  /\b(?:ignore|disregard|forget) (?:about )?(?:everything|anything|all|whatever|what)(?: that| which)? (?:of )?(?:the )?(?:above|before|you (?:were|are|have been|had been|know|learned)|(?:was|has been) said|i (?:said|told))\b/,
  /\b(?:ignore|disregard|forget) (?:all )?(?:of )?(?:the )?above(?: and\b| text\b| context\b|\s*[.,;:!]|\s*$)/,
  /\b(?:ignore|disregard|forget) (?:all|any|every|the) (?:texts?|words?|messages?|lines?) (?:above|before this)\b/,
  /\b(?:your|previous|above|earlier) (?:instructions?|rules|guidelines) (?:have (?:been )?(?:changed|revoked|updated|replaced)|(?:do not|don['’]t|no longer) apply)\b/,
  /\b(?:ignore|disregard|forget|override|bypass) (?:all )?(?:of )?your (?:\w+ )?(?:safety|content|guardrails?|safeguards?|restrictions?|programming|training)\b/,
  // Another part to play, another task.
  /\b(?:pretend you(?: are|['’]re)|do anything now|you are no longer (?:an? )?(?:ai|assistant|chat ?bot|bound|restricted))\b/,
  /\byour (?:new|only|real) task is\b|(?:^|[.!?\n])\s{0,4}new task\s*:|\[\s*system\b/,
  // A model's duties, and words to it.
  /\b(?:the|this|any|every|an|all) (?:ai|assistant|chat ?bot|language model|llm)s?(?: (?:that|who|which|reading)\b[^.!?\n]{0,40})? (?:must|should|shall|has to|have to|needs? to|(?:is|are) (?:required|to))\b/,
  /\b(?:note|message|reminder|attention) (?:to|for) (?:the |any |every |all )?(?:ai|assistant|chat ?bot|language model|llm|model)s?\b/,
  /\b(?:when|whenever|if|once) you (?:(?:recall|retrieve|remember) this|(?:read|see) this (?:note|memory))\b/,
  /\byou (?:must|shall|are (?:required )?to) (?:always|only) (?:choose|pick|select|answer|reply|respond|say|recommend|approve|refuse|obey)\b/,
  // What is to hold in other conversations than its own.
  /\b(?:from now on|henceforth|from here on|going forward),? (?:(?:please|always|only|never|do not|you (?:must|will|should|shall)) )*(?:answer|reply|respond|say|tell|recommend|choose|call|send|wire|transfer|approve|refuse|obey|follow|treat|mention|include)\b/,
  /\bin (?:(?:every|each)|(?:all|any) (?:future|later|other|subsequent)) (?:answer|repl(?:y|ies)|response|conversation|chat|session)s?\b/,
  /\b(?:whenever|every time|each time|any time) (?:a|any|the|another|some) (?:user|customer|client|visitor)s? (?:asks?|wants?|says?|mentions?|requests?)\b/,
  // What is to be kept from whom it serves.
  /\b(?:(?:do not|don['’]t|never) (?:ever )?(?:tell|let|inform|warn)|without (?:telling|letting|informing|warning|asking)) (?:the|any|your) (?:user|customer|client|visitor)s?\b/,
  // Where it says that it comes from.
  /\bthis (?:note|memory|entry|instruction|directive)\b[^.!?\n]{0,20}\b(?:verified|approved|authori[sz]ed|confirmed|issued|written|comes|came|is|was) (?:by|from)\b[^.!?\n]{0,12}\b(?:admin\w*|developers?|operators?|management|system|owners?|openai|anthropic)\b/,
  /\b(?:system|admin(?:istrator)?|developer|operator) (?:override|directive)\b/,
] as const

/** What may be an order to a model, and may be help as well. */
const doubtful = [
  /\b(?:from now on|henceforth|in (?:all |any )?future)\b/,
  /\b(?:always|never) (?:answer|reply|respond|say|choose|recommend|call|mention|reveal)\b/,
  /\bdo not (?:tell|mention|reveal|inform|verify)\b/,
  /\b(?:the|any|every) (?:agent|model|bot|system) (?:must|should|shall|has to|needs to|(?:is|are) (?:required|to))\b/,
  /(?:^|\n)[^\S\n]*instructions?\s*:|\bas an ai\b/,
] as const

/**
 * Whether a text would steer the model that reads it: it sets aside what was said before, speaks as another role, gives the
 * model duties or standing orders, or claims authority. Such a text is not remembered, whatever its episode earned. Help in
 * the imperative is no such text. It is a screen and no proof: a plain falsehood passes it, and is left to utility.
 */
export function addressesTheModel(text: string): boolean {
  const plain = visibleWords(text)
  return overridesInstructions(text) || steering.some((sign) => sign.test(plain))
}

/** How far a text is trusted: as far as what it comes from, and hardly where it may be an order to the model. */
export function trustIn(text: string, from: number): number {
  const plain = visibleWords(text)
  return doubtful.some((sign) => sign.test(plain)) ? Math.min(from, asOrder) : from
}
