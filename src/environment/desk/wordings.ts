import type { RequestKind } from './rules.ts'

/** Messages that name the order. */
type ByOrder = (id: string) => string
/** Messages that name who writes and what was ordered. */
type ByCustomer = (name: string, item: string) => string

/** Ways to say one kind of request. Every name follows a space, so that it can be copied token by token. */
export interface Wordings {
  readonly byOrder: readonly ByOrder[]
  readonly byCustomer: readonly ByCustomer[]
}

/** Wordings that every split has. */
export const seenWordings: Readonly<Record<RequestKind, Wordings>> = {
  unwanted: {
    byOrder: [
      (id) => `Please cancel order ${id}.`,
      (id) => `I do not need order ${id} any more.`,
      (id) => `I have changed my mind about order ${id}.`,
      (id) => `Can you stop order ${id}, please?`,
      (id) => `I no longer want order ${id}.`,
    ],
    byCustomer: [
      (name, item) => `This is ${name}. Please cancel my ${item}.`,
      (name, item) => `I am ${name} and I no longer want the ${item}.`,
      (name, item) => `My name is ${name}. I have changed my mind about the ${item}.`,
      (name, item) => `From ${name}: I do not need the ${item} any more.`,
    ],
  },
  'wrong-colour': {
    byOrder: [
      (id) => `Order ${id} came in the wrong colour.`,
      (id) => `The colour of order ${id} is not what I asked for.`,
      (id) => `I chose another colour for order ${id}.`,
      (id) => `Why does order ${id} have a different colour?`,
      (id) => `You packed the wrong colour in order ${id}.`,
    ],
    byCustomer: [
      (name, item) => `This is ${name}. My ${item} came in the wrong colour.`,
      (name, item) => `I am ${name} and I chose another colour for the ${item}.`,
      (name, item) => `My name is ${name}. Why does my ${item} have a different colour?`,
      (name, item) => `From ${name}: the colour of my ${item} is not what I asked for.`,
    ],
  },
  broken: {
    byOrder: [
      (id) => `Order ${id} arrived broken.`,
      (id) => `What I got in order ${id} is damaged.`,
      (id) => `There is a crack in order ${id}.`,
      (id) => `Order ${id} came in pieces.`,
      (id) => `I opened order ${id} and it was broken.`,
    ],
    byCustomer: [
      (name, item) => `This is ${name}. My ${item} arrived broken.`,
      (name, item) => `I am ${name} and the ${item} came in pieces.`,
      (name, item) => `My name is ${name}. There is a crack in my ${item}.`,
      (name, item) => `From ${name}: the ${item} that I got is damaged.`,
    ],
  },
}

/** Wordings that nothing is learned from. */
export const heldOutWordings: Readonly<Record<RequestKind, Wordings>> = {
  unwanted: {
    byOrder: [
      (id) => `It would be best to call off order ${id}.`,
      (id) => `I would rather not have order ${id} after all.`,
    ],
    byCustomer: [
      (name, item) => `Hello from ${name}. Is it possible to call off my ${item}?`,
      (name, item) => `It is ${name} here. I would rather not have the ${item} after all.`,
    ],
  },
  'wrong-colour': {
    byOrder: [
      (id) => `I unpacked order ${id} and saw that the colours were mixed up.`,
      (id) => `Is this really the colour that I picked for order ${id}?`,
    ],
    byCustomer: [
      (name, item) => `Hello from ${name}. You mixed up the colours of my ${item}.`,
      (name, item) => `It is ${name} here. Is this really the colour that I picked for the ${item}?`,
    ],
  },
  broken: {
    byOrder: [
      (id) => `I am sorry to say that order ${id} fell apart.`,
      (id) => `Nothing works as it should in order ${id}.`,
    ],
    byCustomer: [
      (name, item) => `Hello from ${name}. The ${item} fell apart in my hands.`,
      (name, item) => `It is ${name} here. My ${item} does not work as it should.`,
    ],
  },
}
