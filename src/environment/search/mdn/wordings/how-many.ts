import type { FrameSets } from './frame.ts'

/** Sentences that ask how many of three features a browser supports, and for the versions in the order of the question. */
export const howMany: FrameSets = {
  seen: {
    question: {
      'how-many-does-it-support': 'how many of {a}, {b} and {c} does {browser} support, and since which versions',
      'of-these-how-many-are-in': 'of {a}, {b} and {c}, how many are in {browser}, and since which versions',
      'how-many-does-it-have': 'how many does {browser} have of {a}, {b} and {c}, and since which versions',
      'what-number-is-supported': 'what number of {a}, {b} and {c} is supported by {browser}, and since which versions',
      'in-browser-how-many-work': 'in {browser}, how many of {a}, {b} and {c} work, and from which versions on',
    },
    request: {
      'count-those': 'count those of {a}, {b} and {c} that {browser} supports, and give the versions',
      'tell-how-many': 'tell me how many of {a}, {b} and {c} are in {browser}, with their versions',
      'look-at-and-give-the-number':
        'look at {browser} and give the number of {a}, {b} and {c} in it, with the versions',
    },
    fragment: {
      'number-in': 'number of {a}, {b} and {c} in {browser}, with their versions',
      'support-of-how-many': '{browser} support of {a}, {b} and {c}: how many, since which versions',
    },
  },
  heldOut: {
    question: {
      'what-is-the-count': 'what is the count among {a}, {b} and {c} available in {browser}, and as of what releases',
      'how-many-will-run': 'if I need {a}, {b} and {c}, how many will {browser} run, and where does each begin',
      'has-got-out-of': '{browser} has got how many out of {a}, {b} and {c}, and when did each arrive',
      'how-many-landed': 'how many landed in {browser} out of {a}, {b} and {c}, and with what releases',
    },
    request: {
      'add-up': 'add up what {browser} knows among {a}, {b} and {c}, then list the releases',
      'go-through': 'go through {a}, {b} and {c}, and report how many {browser} ships, plus the releases',
    },
    fragment: {
      tally: 'tally for {browser} out of {a}, {b} and {c}, plus each release',
      checklist: 'checklist {a}, {b} and {c} for {browser}: total available, plus each release',
    },
  },
}
