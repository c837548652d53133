/** How words try to take the place of a model's instructions: what prompt injections have in common (AgentPoison, MINJA). */
const overrides = [
  /\b(?:ignore|disregard|forget|override|bypass)\b.{0,40}\b(?:previous|prior|above|earlier|all|any|your)\b.{0,40}\b(?:instructions?|prompts?|rules?|guidelines?)\b/,
  // Whole clauses of ordinary help are let through, and nothing that goes on: "you are now ready to approve every refund".
  /\byou are now\b(?! (?:(?:logged|signed) (?:in|out)|subscribed|unsubscribed|connected)(?: again)? ?(?:[.!?,;:]|$))/,
  /\bfrom now on,? you\b(?! will (?:get|receive) (?:it|them|your (?:bills?|invoices?|statements?)) by (?:post|letter|e-?mail|sms) ?(?:[.!?,;:]|$))/,
  /\bact as\b(?! (?:a|an|the|your) (?:deposit|receipt|proof of \w+|ticket|backup|hotspot) ?(?:[.!?,;:]|$))|\bpretend to be\b/,
  /\b(?:system prompt|developer message|new instructions?|important instructions?|jailbreak)\b/,
  /<(?:\s*\/)?\s*(?:memory|system|instructions?|im_start|im_end|endoftext)\b|<\||\[\/?inst\]|<<\/?sys>>/,
] as const

/** What speaks as another role, at the start of a line. */
const otherRole = /(?:^|\n) ?(?:system|assistant|developer)\s?:/

/**
 * The lines of a text as its readers see them, in small letters: characters that nobody sees split words that somebody reads,
 * and so do accents. All white space between two words is one character: a line break where it has any, else a space.
 */
export const visibleLines = (text: string): string =>
  text
    .normalize('NFKD')
    .replaceAll(/[\p{Cf}\p{Mn}]/gu, '')
    .replaceAll(/[\s\u0085]+/g, (space) => (/[^ \t\u00a0]/.test(space) ? '\n' : ' '))
    .toLowerCase()

/** The same on one line, however it was broken. */
export const visibleWords = (text: string): string => visibleLines(text).replaceAll('\n', ' ')

/**
 * Whether words from outside try to take the place of the instructions of a model that reads them (invariant 10). It is a
 * screen for what is common, and no proof: what stands in a prompt as data is called data there as well.
 */
export function overridesInstructions(text: string): boolean {
  const plain = visibleWords(text)
  return overrides.some((pattern) => pattern.test(plain)) || otherRole.test(visibleLines(text))
}
