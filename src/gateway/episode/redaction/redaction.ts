import type { z } from 'zod'
import { nearestName } from '../../../core/index.ts'
import { InputError } from '../../../errors/index.ts'
import type { ServeConfig } from '../../config.ts'
import { email, ip } from './addresses.ts'
import { redactEncoded } from './bytes.ts'
import { type Finder, type Found, matches } from './found.ts'
import { card, iban, phone } from './numbers.ts'
import { atOnce, ownerPattern, triesWithin } from './owner-pattern.ts'
import { type PlainView, plainView } from './plain-view.ts'
import { noEffort, readInParts } from './reading.ts'
import type { Redacted, Redaction, TriedRules } from './redacted.ts'
import { redactionThread } from './redaction-thread.ts'
import { secret } from './secrets.ts'
import { unread } from './unread.ts'

const builtInKinds: Readonly<Record<string, readonly Finder[]>> = {
  email: [email],
  phone: [phone],
  card: [card],
  iban: [iban],
  ip,
  secret,
}

/** How long patterns of the owner's own may take for one text, in milliseconds. */
const patienceMs = 50

interface Rule {
  readonly name: string
  readonly finders: readonly Finder[]
  readonly isOwners: boolean
}

/** What redacting takes beside the rules. */
export interface RedactionOptions {
  /** Names that stay as they are. */
  readonly kept?: ReadonlySet<string>
  /** Told of each text that no rule could be applied to in time, and that is not written. */
  readonly onUnread?: () => void
}

/**
 * Compiles rules: built-in kinds by name, and rules of one's own, applied in their order.
 * @throws InputError for a kind that there is not, or a pattern that cannot be used.
 */
export function redactionOf(
  rules: z.infer<typeof ServeConfig>['redact'],
  { kept = new Set(), onUnread = () => {} }: RedactionOptions = {},
): Redaction {
  const counted = (redacted: Redacted<string>) => {
    if (redacted.value === unread) onUnread()
    return redacted
  }
  const rulesHere = rulesOf(rules, { kept, patience: patienceMs })
  const applied: TriedRules = {
    ...rulesHere,
    redact: (text) => counted(rulesHere.redact(text)),
    *tries(text) {
      return counted(yield* rulesHere.tries(text))
    },
  }
  const thread = redactionThread(rules)
  const elsewhere = async (text: string) => counted(await thread(text))
  const redactionBy = (effortOf: typeof noEffort): Redaction => {
    const redaction: Redaction = {
      ...applied,
      reading: async (read) => (applied.active ? readInParts(applied, elsewhere, read, effortOf()) : read(redaction)),
      together: () => {
        const effort = noEffort()
        return redactionBy(() => effort)
      },
    }
    return redaction
  }
  return redactionBy(noEffort)
}

/**
 * The rules alone, applied in this thread.
 * @param patience how long patterns of the owner's own may take for one text; `null` where somebody else sees to that.
 */
export function rulesOf(
  rules: z.infer<typeof ServeConfig>['redact'],
  { kept, patience }: { readonly kept: ReadonlySet<string>; readonly patience: number | null },
): TriedRules {
  const compiled = rules.map((rule): Rule => {
    if (typeof rule === 'string') return { name: rule, finders: builtIn(rule), isOwners: false }
    // The name of a kind as a pattern means the kind, under another name.
    const kind = Object.hasOwn(builtInKinds, rule.pattern) ? builtInKinds[rule.pattern] : undefined
    const finders = kind ?? [matches(ownerPattern(rule.name, rule.pattern))]
    return { name: rule.name, finders, isOwners: kind === undefined }
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
  // Built-in kinds take time by the length of a text, and by nothing else.
  const mayBeSlow = compiled.some(({ isOwners }) => isOwners)
  const through = (text: string) => orUnread(() => seen(redactEncoded(text, seen).value).value)
  function* tries(text: string): Generator<void, Redacted<string>> {
    if (compiled.length === 0) return { value: text, changed: false }
    const inTime =
      mayBeSlow && patience !== null ? yield* triesWithin(patience, () => through(text)) : { value: through(text) }
    const value = inTime?.value ?? unread
    return { value, changed: value !== text }
  }
  return {
    active: compiled.length > 0,
    mayBeSlow,
    redact: (text) => atOnce(tries(text)),
    tries,
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
