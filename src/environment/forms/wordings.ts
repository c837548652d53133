import { type Sentence, sentencesOf, type Wordings } from '../sentences.ts'
import type { FormsRequest } from './task-data.ts'

type Kind = FormsRequest['kind']

/** Messages that leave out who writes, and when. */
const seenShort: Wordings<Kind> = {
  order: [
    'Please send us {count} of the {item}.',
    'We need {count} of the {item}.',
    'I would like to order the {item}, {count} of them.',
    'Our order: the {item}, {count} pieces.',
  ],
  repair: [
    'There is {fault} in my {item}.',
    'My {item} has a problem: {fault}.',
    'I found {fault} in the {item} and want it mended.',
    'Can you mend my {item}? It has {fault}.',
  ],
  visit: [
    'Can I see the {item} on {day} in the {part}?',
    'I would like to look at the {item} on {day} in the {part}.',
    'We want to try the {item} in the {part} on {day}.',
    'Show me the {item} on {day}, in the {part}.',
  ],
}

/** Messages with everything. */
const seenLong: Wordings<Kind> = {
  order: [
    'This is {customer}. Please send us {count} of the {item} on {day}.',
    'I am {customer}. By {day} we need {count} of the {item}.',
    'My name is {customer} and I would like to order the {item}, {count} of them, for {day}.',
    'Order from {customer}: the {item}, {count} pieces, on {day}.',
  ],
  repair: [
    'This is {customer}. There is {fault} in my {item}. I can bring it on {day}.',
    'I am {customer} and my {item} has a problem: {fault}. Can I come on {day}?',
    'My name is {customer}. I found {fault} in the {item} and want it mended on {day}.',
    'Message from {customer}: can you mend my {item} on {day}? It has {fault}.',
  ],
  visit: [
    'This is {customer}. Can we see the {item} on {day} in the {part}? There are {count} of us.',
    'I am {customer}. We would like to look at the {item} on {day} in the {part}, with {count} people.',
    'My name is {customer}. With {count} people we want to try the {item} in the {part} on {day}.',
    'Visit of {customer} with {count} guests: the {item} on {day}, in the {part}.',
  ],
}

/** The same, in words that no task to learn from uses. */
const heldOutShort: Wordings<Kind> = {
  order: ['Could you deliver {count} pieces of your {item}?', 'Put me down for the {item}, please; {count} should do.'],
  repair: [
    'Something is wrong with my {item}; I notice {fault}.',
    'I am sorry to say that the {item} shows {fault}. Please repair it.',
  ],
  visit: [
    'Is it possible to view your {item}? {day} suits me best, in the {part}.',
    'May I come by on {day}? I have heard of the {item}. I am free in the {part}.',
  ],
}

const heldOutLong: Wordings<Kind> = {
  order: [
    'Hello, {customer} here. Could you deliver {count} pieces of your {item}? The best day is {day}.',
    'Put {customer} down for the {item}, please; {count} should do, if they come on {day}.',
  ],
  repair: [
    'Hello, {customer} here. Something is wrong with my {item}; I notice {fault}. Please fetch it on {day}.',
    'On {day} I shall be at your shop, says {customer}. The {item} shows {fault}.',
  ],
  visit: [
    'Hello, {customer} here. Is it possible to view your {item}? {day} suits all {count} of us, in the {part}.',
    'May {customer} come by on {day} and bring {count} friends? It is about the {item}. In the {part}, please.',
  ],
}

/** Every way that training asks, and those that are held out; `long` ones are for forms of five fields. */
export const sentences: Readonly<
  Record<'seen' | 'heldOut', Readonly<Record<'short' | 'long', readonly Sentence<Kind>[]>>>
> = {
  seen: { short: sentencesOf(seenShort), long: sentencesOf(seenLong) },
  heldOut: { short: sentencesOf(heldOutShort), long: sentencesOf(heldOutLong) },
}
