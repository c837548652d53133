import type { QuestionKind } from '../question.ts'

/** Puts titles and a browser into one sentence. */
export type Phrase = (titles: readonly string[], browser: string) => string

/** The few plain phrases of each kind; every title follows a space, so that it can be copied token by token. */
export const fewPhrases: Readonly<Record<QuestionKind, readonly Phrase[]>> = {
  since: [
    ([title], browser) => `From which version does ${browser} support ${title}?`,
    ([title], browser) => `Which version of ${browser} first supports ${title}?`,
    ([title], browser) => `Since which version has ${browser} supported ${title}?`,
    ([title], browser) => `Which ${browser} version brought ${title}?`,
  ],
  'which-first': [
    ([a, b], browser) => `Which came to ${browser} first, ${a} or ${b}? Name it with both versions.`,
    ([a, b], browser) => `Did ${browser} first support ${a} or ${b}? Name it with both versions.`,
  ],
  wherever: [
    ([a, b]) => `Is ${a} supported wherever ${b} is? If not, where not?`,
    ([a, b]) => `Does every browser with ${b} have ${a} too? If not, which lack it?`,
  ],
  'how-many': [
    ([a, b, c], browser) => `How many of ${a}, ${b} and ${c} does ${browser} support, and since which versions?`,
    ([a, b, c], browser) => `Of ${a}, ${b} and ${c}, how many are in ${browser}, and since which versions?`,
  ],
}
