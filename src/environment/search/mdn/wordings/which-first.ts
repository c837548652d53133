import type { FrameSets } from './frame.ts'

/** Sentences that ask which of two features a browser supported first, and for both versions. */
export const whichFirst: FrameSets = {
  seen: {
    question: {
      'which-came-first': 'which came to {browser} first, {a} or {b}, and in which versions',
      'did-it-first-support': 'did {browser} first support {a} or {b}, and since which versions',
      'which-did-it-support-earlier': 'which of {a} and {b} did {browser} support earlier, and since which versions',
      'which-is-older': 'which is older in {browser}, {a} or {b}, and what are both versions',
      'which-was-added-first': 'of {a} and {b}, which was added to {browser} first, and in which versions',
    },
    request: {
      'name-the-earlier': 'name the earlier of {a} and {b} in {browser}, with both versions',
      'say-which-it-had-first': 'say which {browser} had first, {a} or {b}, and give both versions',
      'compare-and-name': 'compare {a} with {b} in {browser}, and name the earlier one with both versions',
    },
    fragment: {
      'first-in': 'first in {browser}: {a} or {b}, with both versions',
      'earlier-of': 'earlier of {a} and {b} in {browser}, with both versions',
    },
  },
  heldOut: {
    question: {
      'what-arrived-sooner': 'what arrived sooner in {browser}, {a} or {b}, and with what releases',
      'known-for-longer': 'if you take {a} and {b}, what has {browser} known for longer, and as of what releases',
      'runs-in-older-releases': 'what runs in older releases of {browser}, {a} or {b}, and where does each begin',
      'was-there-before': 'was {a} there before {b} or the other way round in {browser}, and when did each arrive',
    },
    request: {
      'tell-whether-it-landed-sooner': 'tell me whether {a} or {b} landed sooner in {browser}, plus the two numbers',
      'pick-what-it-shipped-sooner': 'pick what {browser} shipped sooner, {a} or {b}, and list the two releases',
    },
    fragment: {
      'sooner-of-the-two': '{browser} and the sooner of two: {a} or {b}, plus their releases',
      versus: 'history of {a} versus {b} in {browser}: what got there before, plus the two releases',
    },
  },
}
