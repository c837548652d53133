import { literal, type Rules } from './rules.ts'

/* JSON's own values, as rules. Numbers are bounded so that each is finite for whoever reads it. */

/** Between the parts of a JSON text: bounded, or a model could go on with white space for ever. */
export const space = (rules: Rules): string => rules.once('space', () => '[ \\n\\t]{0,16}')

/**
 * One character of a string, then that. What follows stands in the same rule: where a rule ended with each character, every
 * longer token would have to be tried anew for every mask. Escapes name no half of a character, so that each counts as one.
 */
function characterThen(rest: string): string {
  const hex = '[0-9A-Fa-f]'
  return [
    `[^"\\\\\\x00-\\x1f] ${rest}`,
    `"\\\\" ["\\\\/bfnrt] ${rest}`,
    `"\\\\u" [0-9A-CE-Fa-ce-f] ${hex} ${hex} ${hex} ${rest}`,
    `"\\\\u" [Dd] [0-7] ${hex} ${hex} ${rest}`,
  ].join(' | ')
}

/** A string of a length between two, in characters. */
export function string(rules: Rules, least = 0, most = Number.POSITIVE_INFINITY): string {
  const close = '"\\""'
  const bounded = most < Number.POSITIVE_INFINITY
  let rest = bounded
    ? rules.once('string of at most 0 more', () => close)
    : rules.once('string of more', (own) => `${close} | ${characterThen(own)}`)
  // From the last character backwards, so that strings of other lengths share their ends.
  if (bounded)
    for (let left = 1; left <= most - least; left++) {
      const after = rest
      rest = rules.once(`string of at most ${left} more`, () => `${close} | ${characterThen(after)}`)
    }
  for (let left = 1; left <= least; left++) {
    const after = rest
    rest = rules.once(`string of ${left} to ${most - least + left} more`, () => characterThen(after))
  }
  return `"\\"" ${rest}`
}

/** At most 15 digits: every such integer is exact. */
export const integer = (rules: Rules): string => rules.once('integer', () => '"-"? ("0" | [1-9] [0-9]{0,14})')

export const number = (rules: Rules): string =>
  rules.once('number', () => `${integer(rules)} ("." [0-9]{1,15})? ([eE] [+-]? [0-9]{1,2})?`)

/** Any value. */
export const anything = (rules: Rules): string =>
  rules.once('anything', () =>
    [string(rules), number(rules), '"true"', '"false"', '"null"', anyObject(rules), anyArray(rules)].join(' | '),
  )

export const anyObject = (rules: Rules): string => rules.once('object', () => record(rules, anything(rules)))

export const anyArray = (rules: Rules): string =>
  rules.once('array', () => array(rules, anything(rules), 0, Number.POSITIVE_INFINITY))

/** An object whose keys are any, and whose values are these. */
export function record(rules: Rules, value: string): string {
  const ws = space(rules)
  const entry = rules.add(`${string(rules)} ${ws} ":" ${ws} ${value} ${ws}`)
  return `"{" ${ws} (${entry} ("," ${ws} ${entry})*)? "}"`
}

/** An array of these, of a length between two. */
export function array(rules: Rules, item: string, least: number, most: number): string {
  const ws = space(rules)
  if (most === 0) return `"[" ${ws} "]"`
  const rest = `("," ${ws} ${item} ${ws})${times(Math.max(0, least - 1), most - 1)}`
  const filled = `${item} ${ws} ${rest}`
  return `"[" ${ws} ${least === 0 ? `(${filled})?` : filled} "]"`
}

/** How often something stands. */
export const times = (least: number, most: number): string =>
  most === Number.POSITIVE_INFINITY ? (least === 0 ? '*' : `{${least},}`) : `{${least},${most}}`

/** An object of these properties, in their order; those that are not required may be left out. */
export function properties(
  rules: Rules,
  entries: readonly { readonly key: string; readonly value: string; readonly required: boolean }[],
): string {
  const ws = space(rules)
  // From the last one backwards: what may follow where a property stands before, and where none does.
  let [after, first] = ['""', '""']
  for (const { key, value, required } of entries.toReversed()) {
    const entry = rules.add(`${literal(JSON.stringify(key))} ${ws} ":" ${ws} ${value} ${ws}`)
    const [afterNow, firstNow] = [`"," ${ws} ${entry} ${after}`, `${entry} ${after}`]
    const [afterLater, firstLater] = [after, first]
    after = rules.add(required ? afterNow : `${afterNow} | ${afterLater}`)
    first = rules.add(required ? firstNow : `${firstNow} | ${firstLater}`)
  }
  return `"{" ${ws} ${first} "}"`
}
