import type { FrameSets } from './frame.ts'

/** Sentences that ask which version of a browser first supports a feature. */
export const since: FrameSets = {
  seen: {
    question: {
      'which-version-first-supports': 'which version of {browser} first supports {a}',
      'from-which-version': 'from which version does {browser} support {a}',
      'since-which-version': 'since which version has {browser} supported {a}',
      'which-version-brought': 'which {browser} version brought {a}',
      'in-which-version-added': 'in which version was {a} added to {browser}',
      'what-is-the-first-version': 'what is the first version of {browser} with {a}',
    },
    request: {
      'tell-the-first-version': 'tell me the first {browser} version that has {a}',
      'find-the-version-that-introduced': 'find the version of {browser} that introduced {a}',
      'look-up-since-when': 'take {a} and look up since which version {browser} has it',
    },
    fragment: {
      'first-version-with': 'first {browser} version with {a}',
      'support-since': 'support of {a} in {browser}: since which version',
      'version-needed': '{browser} version needed for {a}',
    },
  },
  heldOut: {
    question: {
      'when-did-it-get': 'when did {browser} get {a}',
      'how-recent-must-it-be': 'how recent must {browser} be to run {a}',
      'what-release-shipped': 'what release of {browser} shipped {a}',
      'as-of-what-release': 'as of what release can people use {a} in {browser}',
    },
    request: {
      'give-the-earliest-release': 'give me the earliest release of {browser} where {a} works',
      'check-when-it-landed': 'check when {a} landed in {browser}',
    },
    fragment: {
      'oldest-that-knows': 'oldest release of {browser} that knows {a}',
      'availability-as-of': 'availability of {a} in {browser}: as of what release',
    },
  },
}
