import type { FrameSets } from './frame.ts'

/**
 * Sentences that ask whether every browser with the second feature has the first, and which lack it. "Yes" must mean that all
 * have it: a sentence such as "does any browser lack it?" does not belong here.
 */
export const wherever: FrameSets = {
  seen: {
    question: [
      'is {a} supported wherever {b} is, and if not, where not',
      'does every browser with {b} have {a} too, and if not, which lack it',
      'do all browsers that support {b} also support {a}, and if not, which do not',
      'where there is {b}, is there always {a}, and if not, in which browsers not',
      'does {a} work in each browser in which {b} works, and if not, in which not',
      'can I use {a} in every browser that has {b}, and if not, in which not',
      "does every browser with {b} also have {a}, and if not, which ones don't",
      "is {a} supported in all browsers that support {b}, and if it isn't, in which of them is it missing",
      'if a browser has {b}, is it safe to assume that it has {a} as well, or else which browsers break that rule',
      'wherever {b} is available, is {a} available too, and which browsers are the exceptions if there are any',
      'my script only checks for {b}, so is that enough to be sure of {a} in any browser, and if not, which browsers have the first but lack the second',
      'do all the browsers that offer {b} offer {a} along with it, and if some do not, what are they called',
      "does support for {b} always imply support for {a}, whatever the browser, and where it doesn't, which browsers are to blame",
      "can I count on {a} in each and every browser that can do {b}, and if I can't, which should I watch out for as lacking it",
      "is it true that no browser supports {b} without supporting {a}, and if that's false, which browsers do",
      'among the browsers which implement {b}, do they all implement {a}, and if not, which of them fail to',
      'will everybody whose browser supports {b} get {a} too, and if not, users of which browsers will have to go without',
    ],
    request: [
      'say whether every browser with {b} has {a}, and if not, which lack it',
      'check that {a} is supported wherever {b} is, and if not, name where not',
      'tell me if all browsers with {b} support {a}, and if not, which do not',
      "tell me whether all browsers that have {b} have {a} too, and if they don't, list those without it",
      "check if {a} is there in every browser where {b} is, and name the ones where it's absent, should there be any",
      'confirm or deny that any browser supporting {b} likewise supports {a}, and in the latter case enumerate the browsers that do not',
      "say yes or no: whichever browser has got {b} has got {a} as well, and if no, say which ones haven't",
      "take all the browsers with {b} and find out whether each of them also supports {a}, then give me the names of any that don't",
    ],
    fragment: [
      'support of {a} wherever {b} is supported: yes, or no and where not',
      'every browser with {b} also has {a}: yes, or no and which lack it',
      'every browser that has {b} also has {a}, list of browsers missing it if not',
    ],
  },
  heldOut: {
    question: [
      'given that a browser knows {b}, is {a} guaranteed there, or what are the exceptions',
      'is it safe to rely on {a} for visitors whose browsers run {b}, or who would fail',
      'can users with {b} run {a} whatever browser they chose, or who is left out',
      'has {a} come to all the browsers that {b} has come to, or who is left out',
    ],
    request: [
      'confirm that no browser ships {b} without shipping {a}, or list the exceptions',
      'verify that {a} covers the browsers that {b} covers, or tell me who is left out',
    ],
    fragment: [
      'no {b} without {a} in any browser: true, or the exceptions',
      'a browser having {b} implies {a}: correct, or the ones that fail',
    ],
  },
}
