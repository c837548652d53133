import type { Json } from '../../core/index.ts'

/** Where a text is taken from: the answer to a call of the routine, by its place, or what the task said. */
export type TextSource = number | 'task'

/** What stands in a text between two others: after the first `before`, up to the next `after`, or to the end where that is empty. */
export interface Between {
  readonly from: TextSource
  readonly before: string
  readonly after: string
}

/** How a routine comes to an argument of one of its calls. */
export type Expression =
  /** The same in every episode. */
  | { readonly kind: 'constant'; readonly value: Json }
  /** Given by whoever calls the skill; where it is left out, found in the task, if it can be. */
  | { readonly kind: 'parameter'; readonly name: string; readonly fallback: Between | null }
  /** A value in an earlier answer that is JSON. `asText`: as text, where it is a number there. */
  | {
      readonly kind: 'path'
      readonly from: number
      readonly path: readonly (string | number)[]
      readonly asText: boolean
    }
  | ({ readonly kind: 'between' } & Between)
  | { readonly kind: 'affixed'; readonly prefix: string; readonly of: Expression; readonly suffix: string }
  | { readonly kind: 'object'; readonly entries: readonly (readonly [string, Expression])[] }
  | { readonly kind: 'array'; readonly items: readonly Expression[] }

/** The value at a path of JSON text; `undefined` where there is none. */
export function atPath(value: unknown, path: readonly (string | number)[]): unknown {
  let at = value
  for (const key of path) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return undefined
    at = Reflect.get(at, key)
  }
  return at
}

/** What stands between two texts; `null` where the first is not there. */
export function between(text: string, { before, after }: Pick<Between, 'before' | 'after'>): string | null {
  const found = text.indexOf(before)
  if (found < 0) return null
  const from = found + before.length
  const to = after === '' ? -1 : text.indexOf(after, from)
  return text.slice(from, to < 0 ? text.length : to)
}

/** The same two as a skill's code has them: it stands alone. */
const atInCode = 'const at = (text, ...path) => path.reduce((value, key) => value[key], JSON.parse(text))'
const betweenInCode = `const between = (text, before, after) => {
  const found = text.indexOf(before)
  if (found < 0) throw new Error('nothing stands after ' + JSON.stringify(before))
  const from = found + before.length
  const to = after === '' ? -1 : text.indexOf(after, from)
  return text.slice(from, to < 0 ? text.length : to)
}`

/** The code of a routine: its calls one after the other, each with what its expressions say; it gives back all answers. */
export function sourceOf(calls: readonly { readonly name: string; readonly given: Expression }[]): string {
  const lines = calls.map(({ name, given }, i) => `  const r${i} = call(${JSON.stringify(name)}, ${codeOf(given)})`)
  const answers = calls.map((_, i) => `r${i}`).join(', ')
  const body = ['function run(input, call, task) {', ...lines, `  return [${answers}].join('\\n')`, '}'].join('\n')
  return [
    ...(body.includes(' at(') ? [atInCode] : []),
    ...(body.includes(' between(') ? [betweenInCode] : []),
    body,
  ].join('\n')
}

/** An expression as JavaScript. Whatever it holds from outside stands there as JSON. */
function codeOf(expression: Expression): string {
  const json = (value: Json) => JSON.stringify(value)
  const found = ({ from, before, after }: Between) =>
    `between(${from === 'task' ? 'task' : `r${from}`}, ${json(before)}, ${json(after)})`
  switch (expression.kind) {
    case 'constant':
      return json(expression.value)
    case 'parameter': {
      const given = `input[${json(expression.name)}]`
      return expression.fallback === null ? given : `(${given} ?? ${found(expression.fallback)})`
    }
    case 'path': {
      const value = `at(r${expression.from}, ${expression.path.map(json).join(', ')})`
      return expression.asText ? `String( ${value})` : value
    }
    case 'between':
      return found(expression)
    case 'affixed':
      return `${json(expression.prefix)} + ${codeOf(expression.of)} + ${json(expression.suffix)}`
    case 'object':
      return `{ ${expression.entries.map(([key, of]) => `${json(key)}: ${codeOf(of)}`).join(', ')} }`
    case 'array':
      return `[ ${expression.items.map(codeOf).join(', ')} ]`
  }
}
