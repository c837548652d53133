import { createContext, Script } from 'node:vm'
import { InputError } from '../../../errors/index.ts'

/**
 * Patterns of the owner's own. A regular expression can take longer than anybody waits on a few characters, so one that is
 * seen to is refused, and the others run with a limit.
 */

/** More than a pattern for one kind of text has. */
const longestPattern = 4_096

/** How long all probes of a pattern may take. */
const probingMs = 200

/** Characters of a probe: what doubles with each of them never comes to its end. */
const probeLength = 48

/** What probes repeat, beside the characters that the pattern itself names. */
const usual = ['a', 'A', '0', ' ', '-', '.', '_', '@', '/', '\n', 'é', 'a0', 'a ', 'a.', '0-', 'aA']

/**
 * @param name of its rule, for the error.
 * @throws InputError for a pattern that cannot be used, or that is slow on a short text.
 */
export function ownerPattern(name: string, source: string): RegExp {
  const refused = (problem: string, cause?: unknown) =>
    new InputError({
      code: 'gateway/bad-redaction-pattern',
      message: `The pattern of the redaction rule "${name}" cannot be used: ${problem}.`,
      hint: 'Give a JavaScript regular expression that matches what is to be replaced, and nothing else.',
      cause,
    })
  if (source.length > longestPattern) throw refused(`it is longer than ${longestPattern} characters`)
  let pattern: RegExp
  try {
    pattern = new RegExp(source, 'gu')
  } catch (error) {
    throw refused((error as Error).message, error)
  }
  if (pattern.test('')) throw refused('it matches where there is nothing, and so everywhere')
  if (isSlow(pattern)) {
    throw new InputError({
      code: 'gateway/slow-redaction-pattern',
      message: `The pattern of the redaction rule "${name}" takes too long on a text of ${probeLength} characters.`,
      hint: 'Repeat nothing that repeats itself: [a-z]+ instead of ([a-z]+)+.',
    })
  }
  return pattern
}

function isSlow(pattern: RegExp): boolean {
  const pumps = new Set([...usual, ...Array.from(pattern.source)])
  const done = within(probingMs, () => {
    for (const pump of pumps) {
      const text = pump.repeat(Math.ceil(probeLength / pump.length))
      for (const end of ['', '!', '\u0000']) Array.from(`${text}${end}`.matchAll(pattern))
    }
  })
  return done === null
}

let work: () => void = () => {}
const context = createContext({ run: () => work() })
const run = new Script('run()')

/** How often something that was late is asked again, and how often when it had no processor meanwhile. */
const mostTries = 2
const mostWaits = 4

/**
 * The result of `ask`, or `null` when it takes longer than so many milliseconds; even a regular expression ends then. On a
 * machine with much else to do the clock runs on while others have the processor: so it is asked again. Yields before it
 * is: others may have their turn first.
 */
export function* triesWithin<T>(ms: number, ask: () => T): Generator<void, { readonly value: T } | null> {
  let tries = 0
  for (let asked = 1; ; asked += 1) {
    const before = process.cpuUsage()
    const done = once(ms, ask)
    if (done !== null) return done
    // Of all threads together: it is never less than this one had.
    const { user, system } = process.cpuUsage(before)
    if (user + system > 500 * ms) tries += 1
    if (asked >= mostWaits || tries >= mostTries) return null
    yield
  }
}

/** The result of tries that nothing comes between. */
export function atOnce<T>(tries: Generator<void, T>): T {
  for (;;) {
    const { done, value } = tries.next()
    if (done) return value
  }
}

/** As {@link triesWithin}, at once. */
export const within = <T>(ms: number, ask: () => T): { readonly value: T } | null => atOnce(triesWithin(ms, ask))

function once<T>(ms: number, ask: () => T): { readonly value: T } | null {
  let done: { readonly value: T } | null = null
  work = () => {
    done = { value: ask() }
  }
  try {
    run.runInContext(context, { timeout: ms })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return null
    throw error
  }
  return done
}
