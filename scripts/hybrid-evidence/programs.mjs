/**
 * Small programs over lists of whole numbers: what they shall do in words, a right program, and programs with the mistakes that
 * people make. Pure: everything comes from the dice that it is given.
 */

const pick = (random, items) => items[random.int(items.length)]
const predicates = ['>', '>=', '<', '<=', 'even', 'odd']
const changes = ['+', '*', '-', 'square']

/** What shall be done: two to four steps, and how a number comes out. */
export function taskOf(random) {
  const steps = Array.from({ length: 2 + random.int(3) }, () =>
    random.int(2) === 0
      ? { keep: pick(random, predicates), number: random.int(8) - 1 }
      : { change: pick(random, changes), number: 2 + random.int(4) },
  )
  return { steps, fold: pick(random, ['sum', 'largest', 'smallest', 'count', 'last']), guarded: true }
}

const keepWords = {
  '>': (n) => `Keep those above ${n}.`,
  '>=': (n) => `Keep those of at least ${n}.`,
  '<': (n) => `Keep those below ${n}.`,
  '<=': (n) => `Keep those of at most ${n}.`,
  even: () => 'Keep the even ones.',
  odd: () => 'Keep the odd ones.',
}
const changeWords = {
  '+': (n) => `Add ${n} to each.`,
  '*': (n) => `Multiply each by ${n}.`,
  '-': (n) => `Take each from ${n}.`,
  square: () => 'Square each.',
}
const foldWords = {
  sum: 'Give their sum.',
  largest: 'Give the largest, or 0 where none is left.',
  smallest: 'Give the smallest, or 0 where none is left.',
  count: 'Give how many are left.',
  last: 'Give the last, or 0 where none is left.',
}

export const wordsOf = ({ steps, fold }) =>
  [
    'Write solve(xs) for a list of whole numbers.',
    ...steps.map((step) => (step.keep ? keepWords[step.keep](step.number) : changeWords[step.change](step.number))),
    foldWords[fold],
  ].join(' ')

const keepCode = { even: 'x % 2 === 0', odd: 'x % 2 !== 0', 'odd, of positive ones': 'x % 2 === 1' }
const changeCode = { '+': (n) => `x + ${n}`, '*': (n) => `x * ${n}`, '-': (n) => `${n} - x`, square: () => 'x * x' }
const stepCode = ({ keep, change, number }) =>
  keep ? `.filter((x) => ${keepCode[keep] ?? `x ${keep} ${number}`})` : `.map((x) => ${changeCode[change](number)})`
const guard = (guarded, value) => (guarded ? `ys.length === 0 ? 0 : ${value}` : value)
const foldCode = {
  sum: () => 'ys.reduce((a, b) => a + b, 0)',
  largest: (guarded) => guard(guarded, 'Math.max(...ys)'),
  smallest: (guarded) => guard(guarded, 'Math.min(...ys)'),
  count: () => 'ys.length',
  last: (guarded) => guard(guarded, 'ys[ys.length - 1]'),
}

/** A program as JavaScript. @param named a line for each step. @param commented says what it does. */
export function codeOf({ steps, fold, guarded }, { named = false, commented = false } = {}) {
  const said = commented ? ['  // Step by step, as asked.'] : []
  const lines = named
    ? steps.map((step, i) => `  const step${i + 1} = ${i === 0 ? 'xs' : `step${i}`}${stepCode(step)}`)
    : []
  const ys = named ? (steps.length === 0 ? 'xs' : `step${steps.length}`) : `xs${steps.map(stepCode).join('')}`
  return [
    'function solve(xs) {',
    ...said,
    ...lines,
    `  const ys = ${ys}`,
    `  return ${foldCode[fold](guarded)}`,
    '}',
  ].join('\n')
}

const edges = { '>': '>=', '>=': '>', '<': '<=', '<=': '<', even: 'odd', odd: 'odd, of positive ones' }
const opposites = { '>': '<', '>=': '<=', '<': '>', '<=': '>=', even: 'odd', odd: 'even' }
const at = (steps, i, change) => steps.map((step, j) => (i === j ? { ...step, ...change(step) } : step))

/** The mistakes: each gives a program of another one, or the same where it finds nothing to get wrong. */
const mistakes = [
  (random, program) => edit(random, program, ({ keep }) => (keep ? { keep: edges[keep] ?? keep } : {})),
  (random, program) => edit(random, program, ({ number }) => ({ number: number + (random.int(2) === 0 ? 1 : -1) })),
  (random, program) => edit(random, program, ({ keep }) => (keep ? { keep: opposites[keep] ?? keep } : {})),
  (random, { steps, ...rest }) => {
    const left = random.int(Math.max(1, steps.length))
    return { steps: steps.filter((_, i) => i !== left), ...rest }
  },
  (random, { steps, ...rest }) => {
    const first = random.int(Math.max(1, steps.length - 1))
    const swapped = steps.map((step, i) =>
      i === first ? (steps[i + 1] ?? step) : i === first + 1 ? steps[first] : step,
    )
    return { steps: swapped, ...rest }
  },
  (_, program) => ({ ...program, guarded: false }),
  (random, program) => ({
    ...program,
    fold: { largest: 'last', last: 'largest', sum: 'sum' }[program.fold] ?? program.fold,
  }),
]
const edit = (random, { steps, ...rest }, change) => ({
  steps: at(steps, random.int(Math.max(1, steps.length)), change),
  ...rest,
})

/** A program with so many mistakes, some of which change nothing. */
export function mistaken(random, program, count) {
  let wrong = program
  for (let i = 0; i < count; i++) wrong = pick(random, mistakes)(random, wrong)
  return wrong
}

/** Lists that a user would think of: short, of small positive numbers. */
export const plainInput = (random) => Array.from({ length: 3 + random.int(2) }, () => 1 + random.int(9))

/** Lists that look for mistakes: empty ones, single ones, negative numbers, the numbers of the task and their neighbours. */
export function hiddenInputs(random, { steps }) {
  const near = steps.flatMap(({ number }) => [number - 1, number, number + 1])
  const mixed = () =>
    Array.from({ length: 1 + random.int(6) }, () => (random.int(2) ? pick(random, near) : random.int(30) - 10))
  return [[], ...near.map((x) => [x]), ...Array.from({ length: 24 }, mixed)]
}
