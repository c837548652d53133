import type { z } from 'zod'
import { nearestName } from '../../../core/index.ts'
import { InputError } from '../../../errors/index.ts'
import type { ServeConfig } from '../../config.ts'
import { email, ip } from './addresses.ts'
import { redactEncoded } from './bytes.ts'
import { type Finder, type Found, matches } from './found.ts'
import { card, iban, phone } from './numbers.ts'
import { type PlainView, plainView } from './plain-view.ts'
import { readInParts } from './reading.ts'
import type { Redacted, Redaction, Rules } from './redacted.ts'
import { redactionThread, unread } from './redaction-thread.ts'
import { secret } from './secrets.ts'

const builtInKinds: Readonly<Record<string, readonly Finder[]>> = {
  email: [email],
  phone: [phone],
  card: [card],
  iban: [iban],
  ip,
  secret,
}

/** More than a pattern for one kind of text has. */
const longestPattern = 4_096

interface Rule {
  readonly name: string
  readonly finders: readonly Finder[]
}

/**
 * Compiles rules: built-in kinds by name, and rules of one's own, applied in their order.
 * @param kept names that stay as they are.
 * @throws InputError for a kind that there is not, or a pattern that cannot be used.
 */
export function redactionOf(
  rules: z.infer<typeof ServeConfig>['redact'],
  kept: ReadonlySet<string> = new Set(),
): Redaction {
  const applied = rulesOf(rules, kept)
  const elsewhere = redactionThread(rules)
  const redaction: Redaction = {
    ...applied,
    reading: async (read) => (applied.active ? readInParts(applied, elsewhere, read) : read(redaction)),
  }
  return redaction
}

/** The rules alone, applied in this thread. */
export function rulesOf(rules: z.infer<typeof ServeConfig>['redact'], kept: ReadonlySet<string> = new Set()): Rules {
  const compiled = rules.map((rule): Rule => {
    if (typeof rule === 'string') return { name: rule, finders: builtIn(rule) }
    // The name of a kind as a pattern means the kind, under another name.
    const kind = Object.hasOwn(builtInKinds, rule.pattern) ? builtInKinds[rule.pattern] : undefined
    return { name: rule.name, finders: kind ?? [matches(compile(rule.name, rule.pattern))] }
  })
  const seen = (text: string): Redacted<string> => {
    let value = text
    for (const { name, finders } of compiled) {
      for (const finder of finders) value = cut(value, finder(value), `[${name}]`)
    }
    // What is hidden is looked for after what is not: an escape may also be a part of what a rule finds.
    let views = viewsOf(value)
    for (const { name, finders } of views.length === 0 ? [] : compiled) {
      for (const finder of finders) {
        for (let level = 0; level < views.length; level += 1) {
          const found = [...finder(views[level]?.text ?? '')].map((one) => writtenAt(views, level, one))
          if (found.length === 0) continue
          value = cut(value, found, `[${name}]`)
          views = viewsOf(value)
        }
      }
    }
    return { value, changed: value !== text }
  }
  return {
    active: compiled.length > 0,
    redact: (text) => {
      if (compiled.length === 0) return { value: text, changed: false }
      const value = orUnread(() => seen(redactEncoded(text, seen).value).value)
      return { value, changed: value !== text }
    },
    keeps: (name) => kept.has(name),
  }
}

/** A long run of what a rule begins with may be more than its pattern's stack holds: nothing of such a text is written. */
function orUnread(redacted: () => string): string {
  try {
    return redacted()
  } catch (error) {
    if (error instanceof RangeError) return unread
    throw error
  }
}

/** Encodings within each other that are taken off. */
const mostLevels = 3

/** A text as it reads with one encoding after the other taken off. */
function viewsOf(text: string): readonly PlainView[] {
  const views: PlainView[] = []
  let view = plainView(text)
  while (view !== null && views.push(view) < mostLevels) view = plainView(view.text)
  return views
}

function writtenAt(views: readonly PlainView[], level: number, found: Found): Found {
  return views.slice(0, level + 1).reduceRight((place, view) => view.written(place), found)
}

function builtIn(kind: string): readonly Finder[] {
  const finders = Object.hasOwn(builtInKinds, kind) ? builtInKinds[kind] : undefined
  if (finders) return finders
  const kinds = Object.keys(builtInKinds)
  const nearest = nearestName(kind, kinds)
  throw new InputError({
    code: 'gateway/unknown-redaction',
    message: `There is no built-in kind "${kind.slice(0, 64)}" of text to redact.`,
    hint: nearest ? `Did you mean "${nearest}"?` : `Known are ${kinds.join(', ')}; a rule of your own has a pattern.`,
  })
}

function compile(name: string, source: string): RegExp {
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
  return pattern
}

function cut(text: string, found: Iterable<Found>, by: string): string {
  let result = ''
  let from = 0
  for (const { start, end } of found) {
    if (start < from) continue
    result += text.slice(from, start) + by
    from = end
  }
  return from === 0 && result === '' ? text : result + text.slice(from)
}
