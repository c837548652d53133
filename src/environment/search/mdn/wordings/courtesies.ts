import type { Form } from './frame.ts'

/**
 * What may stand around a sentence, plain first. `{ask}` is the sentence, `{Ask}` the sentence with a capital. Training says
 * the seen ones only.
 */
export const courtesies: Readonly<Record<'seen' | 'heldOut', Readonly<Record<Form, readonly string[]>>>> = {
  seen: {
    question: [
      '{Ask}?',
      '{Ask}, please?',
      'Could you tell me: {ask}?',
      'Hi! {Ask}?',
      '{Ask}? Thanks!',
      'Hello! {Ask}?',
      'Sorry to bother you, but {ask}?',
      "I can't find this anywhere: {ask}?",
      '{Ask}? Many thanks for your help!',
      'Good morning. Here is something I have been wondering about: {ask}?',
      'For a project at work: {ask}?',
      'My colleague wants to know, {ask}?',
      '{Ask}? I need it for a report.',
      'So, {ask}?',
      '{Ask}? It is for our website.',
      'Just wondering, {ask}?',
      'One more thing. {Ask}?',
      'We are testing old machines in our office. {Ask}?',
      '{Ask}? No hurry.',
      'Good evening, {ask}?',
    ],
    request: [
      '{Ask}.',
      'Please {ask}.',
      'Hello! {Ask}.',
      '{Ask}. Thank you!',
      '{Ask}, please.',
      'Hi there, please {ask}.',
      'When you get the chance, {ask}. Much appreciated.',
      'For our team: {ask}.',
      '{Ask}. It is for a customer.',
      'Now {ask}.',
      '{Ask}, I have to decide today.',
      'My next task for you: {ask}.',
      '{Ask}. A number is enough.',
    ],
    fragment: [
      '{ask}',
      '{ask}?',
      '{ask}, please',
      'hi, {ask}',
      'Search: {ask}',
      '{ask}, thanks!',
      'need to know: {ask}',
      'Hey, {ask}?',
      '{ask} (for work)',
      'search for {ask}',
      'again: {ask}',
      'my question: {ask}',
      '{ask}. thank you',
    ],
  },
  heldOut: {
    question: ['Excuse me, {ask}?', 'Do you happen to know: {ask}?', '{Ask}? Much obliged.'],
    request: ['Would you kindly {ask}?', '{Ask}, if you can.'],
    fragment: ['quick one: {ask}', '{ask}, cheers'],
  },
}
