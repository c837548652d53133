import type { Rng } from '../../core/index.ts'

/** What a document says of a part, in the order of its lines. */
export const attributes = ['price', 'weight', 'stock', 'shelf', 'power', 'speed', 'size', 'life'] as const
export type Attribute = (typeof attributes)[number]

/** What one part's document says. */
export type Values = Readonly<Record<Attribute, string>>

/** Lowest and highest value, and their step. Wide enough that no single value is common. */
const ranges: Readonly<Record<Exclude<Attribute, 'shelf'>, readonly [from: number, to: number, step: number]>> = {
  price: [11, 99, 1],
  weight: [110, 990, 10],
  stock: [2, 80, 1],
  power: [15, 95, 1],
  speed: [120, 980, 20],
  size: [10, 75, 1],
  life: [3, 48, 1],
}

/** Rows A to H of nine places each. */
const shelves = 'A B C D E F G H'.split(' ').flatMap((row) => Array.from({ length: 9 }, (_, at) => `${row}${at + 1}`))

/**
 * Values for `count` similar parts. No two of them share any value, so that whoever reads a sibling answers wrongly.
 * @param count at most 40.
 */
export function siblingValues(count: number, random: Rng): Values[] {
  const columns = attributes.map((attribute) => random.shuffle(possible(attribute)).slice(0, count))
  return Array.from({ length: count }, (_, at) => {
    const entries = attributes.map((attribute, column) => [attribute, columns[column]?.[at] ?? ''] as const)
    return Object.fromEntries(entries) as Values
  })
}

/** Every value that an attribute can have. */
function possible(attribute: Attribute): readonly string[] {
  if (attribute === 'shelf') return shelves
  const [from, to, step] = ranges[attribute]
  return Array.from({ length: Math.floor((to - from) / step) + 1 }, (_, at) => String(from + at * step))
}

/** A document's lines: `weight 340`, one an attribute. */
export function valueLines(values: Values): string[] {
  return attributes.map((attribute) => `${attribute} ${values[attribute]}`)
}

/** Reads one attribute off a document's text, as a reader would; undefined where no line begins with it. */
export function readValue(text: string, attribute: Attribute): string | undefined {
  const line = text.split('\n').find((each) => each.startsWith(`${attribute} `))
  return line?.slice(attribute.length + 1)
}
