import type { Form } from './frame.ts'

/**
 * What may stand around a sentence, plain first. `{ask}` is the sentence, `{Ask}` the sentence with a capital. Held-out
 * sentences are said with either set, training's only with the seen one.
 */
export const courtesies: Readonly<Record<'seen' | 'heldOut', Readonly<Record<Form, readonly string[]>>>> = {
  seen: {
    question: ['{Ask}?', '{Ask}, please?', 'Could you tell me: {ask}?', 'Hi! {Ask}?', '{Ask}? Thanks!'],
    request: ['{Ask}.', 'Please {ask}.', 'Hello! {Ask}.', '{Ask}. Thank you!'],
    fragment: ['{ask}', '{ask}?', '{ask}, please', 'hi, {ask}'],
  },
  heldOut: {
    question: ['Excuse me, {ask}?', 'Do you happen to know: {ask}?', '{Ask}? Much obliged.'],
    request: ['Would you kindly {ask}?', '{Ask}, if you can.'],
    fragment: ['quick one: {ask}', '{ask}, cheers'],
  },
}
