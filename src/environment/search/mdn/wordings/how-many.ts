import type { FrameSets } from './frame.ts'

/** Sentences that ask how many of three features a browser supports, and for the versions in the order of the question. */
export const howMany: FrameSets = {
  seen: {
    question: [
      'how many of {a}, {b} and {c} does {browser} support, and since which versions',
      'of {a}, {b} and {c}, how many are in {browser}, and since which versions',
      'how many does {browser} have of {a}, {b} and {c}, and since which versions',
      'what number of {a}, {b} and {c} is supported by {browser}, and since which versions',
      'in {browser}, how many of {a}, {b} and {c} work, and from which versions on',
      "out of {a}, {b} and {c}, how many are supported in {browser}, and what's the first version for each, in the order I gave them",
      'how many of these three does {browser} have: {a}, {b}, {c}, and from which version on does it have each, in the same order',
      'what is the number of features among {a}, {b} and {c} that {browser} supports, and what are the respective versions, listed in this order',
      "{browser} can do how many of {a}, {b} and {c}, and which release brought each one, going from first to last as I've named them",
      'my online form needs {a}, {b} and {c}, so how many of them does {browser} support, and starting with which versions, one after the other as listed',
      'does {browser} support all three, two, one or none of {a}, {b} and {c}, and with which version did each come, keeping to that order',
      'if I use {a}, {b} and {c} together, how many of the three will work in {browser}, and what version does each of them take, in the order given',
      'when you count those of {a}, {b} and {c} which {browser} has, how many do you get, and what are their versions in the order of my list',
      'how many has {browser} got out of {a}, {b} and {c}, and in what versions did it get them, same order please',
      'how many from the list {a}, {b}, {c} are there in {browser}, and for each in turn, what was the earliest version with it',
    ],
    request: [
      'count those of {a}, {b} and {c} that {browser} supports, and give the versions',
      'tell me how many of {a}, {b} and {c} are in {browser}, with their versions',
      'look at {browser} and give the number of {a}, {b} and {c} in it, with the versions',
      'count how many of {a}, {b} and {c} are supported by {browser}, and give their versions in that order',
      'tell me how many of {a}, {b} and {c} work in {browser} and from which version each does, in the order I wrote them',
      'report for {browser} the number of supported features among {a}, {b} and {c}, followed by the version that introduced each, in the order stated',
      'go through {a}, {b} and {c} one by one, write down since which version {browser} has had each, in that order, and say how many of the three it supports',
      'let me know how many of the following {browser} knows, {a}, {b} and {c}, plus the first version for each in the same sequence',
    ],
    fragment: [
      'number of {a}, {b} and {c} in {browser}, with their versions',
      '{browser} support of {a}, {b} and {c}: how many, since which versions',
      'how many of {a}, {b}, {c} in {browser}, versions in that order',
      '{browser} support for {a}, {b}, {c}: how many of the 3 and since what versions, same order',
      'count supported in {browser}: {a}, {b} and {c}, with first versions in this order',
    ],
  },
  heldOut: {
    question: [
      'what is the count among {a}, {b} and {c} available in {browser}, and as of what releases',
      'if I need {a}, {b} and {c}, how many will {browser} run, and where does each begin',
      '{browser} has got how many out of {a}, {b} and {c}, and when did each arrive',
      'how many landed in {browser} out of {a}, {b} and {c}, and with what releases',
    ],
    request: [
      'add up what {browser} knows among {a}, {b} and {c}, then list the releases',
      'go through {a}, {b} and {c}, and report how many {browser} ships, plus the releases',
    ],
    fragment: [
      'tally for {browser} out of {a}, {b} and {c}, plus each release',
      'checklist {a}, {b} and {c} for {browser}: total available, plus each release',
    ],
  },
}
