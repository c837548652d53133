import type { FrameSets } from './frame.ts'

/**
 * Sentences that ask whether every browser with the second feature has the first, and which lack it. "Yes" must mean that all
 * have it: a sentence such as "does any browser lack it?" does not belong here.
 */
export const wherever: FrameSets = {
  seen: {
    question: {
      'is-it-supported-wherever': 'is {a} supported wherever {b} is, and if not, where not',
      'does-every-browser-with': 'does every browser with {b} have {a} too, and if not, which lack it',
      'do-all-that-support': 'do all browsers that support {b} also support {a}, and if not, which do not',
      'is-there-always': 'where there is {b}, is there always {a}, and if not, in which browsers not',
      'does-it-work-in-each': 'does {a} work in each browser in which {b} works, and if not, in which not',
      'can-i-use-it-in-every': 'can I use {a} in every browser that has {b}, and if not, in which not',
    },
    request: {
      'say-whether-every': 'say whether every browser with {b} has {a}, and if not, which lack it',
      'check-that-it-is-supported': 'check that {a} is supported wherever {b} is, and if not, name where not',
      'tell-if-all': 'tell me if all browsers with {b} support {a}, and if not, which do not',
    },
    fragment: {
      'support-wherever': 'support of {a} wherever {b} is supported: yes, or no and where not',
      'every-browser-with': 'every browser with {b} also has {a}: yes, or no and which lack it',
    },
  },
  heldOut: {
    question: {
      'is-it-guaranteed': 'given that a browser knows {b}, is {a} guaranteed there, or what are the exceptions',
      'is-it-safe-to-rely': 'is it safe to rely on {a} for visitors whose browsers run {b}, or who would fail',
      'can-users-run': 'can users with {b} run {a} whatever browser they chose, or who is left out',
      'has-it-come-to': 'has {a} come to all the browsers that {b} has come to, or who is left out',
    },
    request: {
      'confirm-or-list': 'confirm that no browser ships {b} without shipping {a}, or list the exceptions',
      'verify-coverage': 'verify that {a} covers the browsers that {b} covers, or tell me who is left out',
    },
    fragment: {
      'none-without': 'no {b} without {a} in any browser: true, or the exceptions',
      implies: 'a browser having {b} implies {a}: correct, or the ones that fail',
    },
  },
}
