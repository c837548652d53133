import { type Attribute, attributes } from './attributes.ts'

/** Ways to ask for an attribute. The part's name stands for `…`, and follows a space, so that it can be copied. */
const seen: Readonly<Record<Attribute, readonly string[]>> = {
  price: [
    'What is the price of the …?',
    'How much does the … cost?',
    'What do we pay for the …?',
    'Price of the …?',
    'Tell me what the … costs.',
    'How expensive is the …?',
  ],
  weight: [
    'What is the weight of the …?',
    'How heavy is the …?',
    'How much does the … weigh?',
    'Weight of the …?',
    'Tell me what the … weighs.',
    'How many grams has the …?',
  ],
  stock: [
    'What is the stock of the …?',
    'How many of the … are left?',
    'How many do we have of the …?',
    'Stock of the …?',
    'Tell me how many of the … are in stock.',
    'How many of the … can we sell?',
  ],
  shelf: [
    'What is the shelf of the …?',
    'Where is the …?',
    'On which shelf is the …?',
    'Shelf of the …?',
    'Tell me where to find the ….',
    'Where do we keep the …?',
  ],
  power: [
    'What is the power of the …?',
    'How strong is the …?',
    'How much power does the … need?',
    'Power of the …?',
    'Tell me how powerful the … is.',
    'How many watts has the …?',
  ],
  speed: [
    'What is the speed of the …?',
    'How fast is the …?',
    'How fast does the … run?',
    'Speed of the …?',
    'Tell me how quick the … is.',
    'How many turns a minute does the … make?',
  ],
  size: [
    'What is the size of the …?',
    'How big is the …?',
    'How large is the …?',
    'Size of the …?',
    'Tell me how big the … is.',
    'How much room does the … take?',
  ],
  life: [
    'What is the life of the …?',
    'How long does the … last?',
    'After how many months does the … fail?',
    'Life of the …?',
    'Tell me how long the … lasts.',
    'How many months does the … live?',
  ],
}

/** The same questions, in words that no task to learn from uses. */
const heldOut: Readonly<Record<Attribute, readonly string[]>> = {
  price: ['Please look up the price of the ….', 'What would I be charged for one …?'],
  weight: ['Please look up the weight of the ….', 'I must carry the …: what does it weigh?'],
  stock: ['Please look up the stock of the ….', 'Of the …, how many are there?'],
  shelf: ['Please look up the shelf of the ….', 'I need the …: which shelf do I go to?'],
  power: ['Please look up the power of the ….', 'What power has the …?'],
  speed: ['Please look up the speed of the ….', 'At what speed does the … turn?'],
  size: ['Please look up the size of the ….', 'What size has the …?'],
  life: ['Please look up the life of the ….', 'How many months will the … serve?'],
}

/** One way to ask for one attribute. */
export interface Frame {
  readonly attribute: Attribute
  /** Attribute and words: `weight: How heavy is the …?` */
  readonly family: string
  readonly instruction: (name: string) => string
}

/** Every way that training asks, and those that are held out. Attributes take turns. */
export const frames = { seen: framesOf(seen), heldOut: framesOf(heldOut) } as const

function framesOf(wordings: typeof seen): readonly Frame[] {
  const most = Math.max(...attributes.map((attribute) => wordings[attribute].length))
  return Array.from({ length: most }, (_, at) =>
    attributes.flatMap((attribute) => {
      const wording = wordings[attribute][at]
      return wording === undefined ? [] : [frameOf(attribute, wording)]
    }),
  ).flat()
}

function frameOf(attribute: Attribute, wording: string): Frame {
  return {
    attribute,
    family: `${attribute}: ${wording}`,
    instruction: (name) => wording.replace('…', name),
  }
}
