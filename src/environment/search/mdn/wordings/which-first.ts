import type { FrameSets } from './frame.ts'

/** Sentences that ask which of two features a browser supported first, and for both versions. */
export const whichFirst: FrameSets = {
  seen: {
    question: [
      'which came to {browser} first, {a} or {b}, and in which versions',
      'did {browser} first support {a} or {b}, and since which versions',
      'which of {a} and {b} did {browser} support earlier, and since which versions',
      'which is older in {browser}, {a} or {b}, and what are both versions',
      'of {a} and {b}, which was added to {browser} first, and in which versions',
      'which did {browser} support first, {a} or {b}, and from which version each',
      'did {a} or {b} come to {browser} earlier, and what were the two versions',
      'between {a} and {b}, which one got into {browser} sooner, and in which version did each arrive',
      'of {a} and {b}, which is the older one in {browser}, and since what version has each of them been there',
      'a mate and I have a bet on whether {browser} had {a} before {b} or the other way round, so who came first and what are the version numbers of both',
      'was it {a} or {b} that {browser} picked up first, and in what release did it get the one and the other',
      'which has {browser} supported for longer, {a} or {b}, and could I have the first version for both',
      'in what order did {a} and {b} appear in {browser}, that is, which was first, and with which version did each appear',
      'for a talk on the history of {browser}, I need to know which was there first out of {a} and {b}, so which was it, and which versions brought the two',
      'is it {a} or {b} that {browser} has from the lower version on, and what are both versions',
      'in which versions of {browser} were {a} and {b} first supported, and which of the two was earlier',
    ],
    request: [
      'name the earlier of {a} and {b} in {browser}, with both versions',
      'say which {browser} had first, {a} or {b}, and give both versions',
      'compare {a} with {b} in {browser}, and name the earlier one with both versions',
      'tell me whether {browser} supported {a} or {b} first, and give the version for each',
      'compare {a} with {b} in {browser}: say which arrived first and name both releases',
      'name the one that {browser} implemented earlier, {a} or {b}, along with the versions in which the two were introduced',
      'settle this for us: what came first in {browser}, {a} or {b}, and at which version did each come in',
      'list the first {browser} version with {a} and the first one with {b}, and say which feature was in there before the other',
    ],
    fragment: [
      'first in {browser}: {a} or {b}, with both versions',
      'earlier of {a} and {b} in {browser}, with both versions',
      '{browser} {a} vs {b} which came earlier + version of each',
      'older in {browser}: {a} or {b}, with version numbers for both',
      'which supported first {a} {b} {browser} and since what versions each',
    ],
  },
  heldOut: {
    question: [
      'what arrived sooner in {browser}, {a} or {b}, and with what releases',
      'if you take {a} and {b}, what has {browser} known for longer, and as of what releases',
      'what runs in older releases of {browser}, {a} or {b}, and where does each begin',
      'was {a} there before {b} or the other way round in {browser}, and when did each arrive',
    ],
    request: [
      'tell me whether {a} or {b} landed sooner in {browser}, plus the two numbers',
      'pick what {browser} shipped sooner, {a} or {b}, and list the two releases',
    ],
    fragment: [
      '{browser} and the sooner of two: {a} or {b}, plus their releases',
      'history of {a} versus {b} in {browser}: what got there before, plus the two releases',
    ],
  },
}
