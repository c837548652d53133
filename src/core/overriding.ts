/** How words try to take the place of a model's instructions: what prompt injections have in common (AgentPoison, MINJA). */
const overrides = [
  /\b(?:ignore|disregard|forget|override|bypass)\b.{0,40}\b(?:previous|prior|above|earlier|all|any|your)\b.{0,40}\b(?:instructions?|prompts?|rules?|guidelines?)\b/s,
  // Not what becomes of people and their accounts: "you are now logged in", "from now on you will get it by post".
  /\byou are now\b(?! (?:logged|signed|connected|subscribed|registered|enrolled|booked|checked|covered|verified|entitled|eligible|able|ready|set|due|all set|on the|part of|a member|online)\b)/,
  /\bfrom now on,? you\b(?!(?: will| can| may|['’]ll)?(?: also)? (?:get|receive|find|see|pay|need no|no longer)\b)/,
  /(?:^|[.!?:;,\n]\s{0,4}|\b(?:you(?: \w+){0,2}|please|now|and|then) )act as\b|\bpretend to be\b/,
  /\b(?:system prompt|developer message|new instructions?|important instructions?|jailbreak)\b/,
  /(?:^|\n)[^\S\n]*(?:system|assistant|developer)\s*:/,
  /<(?:\s*\/)?\s*(?:memory|system|instructions?|im_start|im_end|endoftext)\b|<\||\[\/?inst\]|<<\/?sys>>/,
] as const

/** A text as its readers see it, in small letters: characters that nobody sees split words that somebody reads, and so do accents. */
export const visibleWords = (text: string): string =>
  text
    .normalize('NFKD')
    .replaceAll(/[\p{Cf}\p{Mn}]/gu, '')
    .toLowerCase()

/**
 * Whether words from outside try to take the place of the instructions of a model that reads them (invariant 10). It is a
 * screen for what is common, and no proof: what stands in a prompt as data is called data there as well.
 */
export function overridesInstructions(text: string): boolean {
  const plain = visibleWords(text)
  return overrides.some((pattern) => pattern.test(plain))
}
