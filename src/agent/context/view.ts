import type { Message } from '../../core/index.ts'
import { folded, type Folding, type Form, formOrder, isLess, type KeepOption, keepOptions, leftOut } from './form.ts'

/** One turn of the policy, and what it was shown after it. */
export interface PastTurn {
  /** How many tokens the policy said. */
  readonly said: number
  /** In full. */
  readonly shown: readonly Message[]
  /** Names of the tool results among `shown`, in their order: `r1`, `r2` … over the whole path. */
  readonly results: readonly string[]
}

/** What a view may take, in tokens. */
export interface Bounds extends Folding {
  /** Of the opening: it is always shown, and never changes. */
  readonly opening: number
  /** The most that a view may take, opening included. */
  readonly most: number
  /** Share in [0, 1) of what the opening and the last turns leave: older turns are brought down to it where they are folded. */
  readonly low: number
  /** The last turns, which are folded only where there is no other way; ≥ 1. */
  readonly keepTurns: number
  /** The forms that may be used beside `whole`. */
  readonly forms: readonly Form[]
}

/** What is shown of a path. */
export interface View {
  /** Of each turn, the form of each of its results; a turn is dropped with all of them. */
  readonly forms: readonly (readonly Form[])[]
  /** Tokens of each turn, without the note of what is left out. */
  readonly sizes: readonly number[]
  /** The turn that says what is left out; −1 where none does. */
  readonly noted: number
  /** Tokens of all, opening included. */
  readonly tokens: number
}

/** Tokens that it takes to show messages after the turn of this index. */
export type Count = (messages: readonly Message[], turn: number) => number

/** What of a result is to stay, by its name, where somebody decided. */
export type Wanted = ReadonlyMap<string, KeepOption>

/** Nothing but the opening. */
export const emptyView = ({ opening }: Pick<Bounds, 'opening'>): View => ({
  forms: [],
  sizes: [],
  noted: -1,
  tokens: opening,
})

/**
 * The view with the turns that it does not hold yet, whole. Everything before stays as it is: what was sent is a beginning of
 * what is sent next, and caches of prompts hold.
 * @param turns the whole path.
 */
export function grown({ forms, sizes, noted, tokens }: View, turns: readonly PastTurn[], count: Count): View {
  const added = turns.slice(forms.length)
  const more = added.map(({ said, shown }, i) => said + count(shown, forms.length + i))
  return {
    forms: [...forms, ...added.map(({ results }) => results.map((): Form => 'whole'))],
    sizes: [...sizes, ...more],
    noted,
    tokens: more.reduce((sum, size) => sum + size, tokens),
  }
}

/**
 * The view, where it takes more than it may, with results folded until it takes much less, so that the next turns fit without
 * another change.
 *
 * Folded are results of older turns, the oldest first: to excerpts, then to stubs, then whole turns are dropped. Where that is
 * not enough, the last turns follow; the very last is never dropped. The opening and what users say stay whole, and what was
 * folded stays folded. Pure: equal paths give equal views.
 * @param turns the whole path, which is all in the view.
 * @param wanted is done first. What was to stay the least goes first where that is not enough.
 * @returns a view that is above its most only where what has to stay takes more.
 */
export function shrunk(
  view: View,
  turns: readonly PastTurn[],
  bounds: Bounds,
  count: Count,
  wanted: Wanted = new Map(),
): View {
  if (view.tokens <= bounds.most) return view
  const plan = new Plan(view, turns, bounds, count)
  const firstKept = Math.max(0, turns.length - bounds.keepTurns)
  const [older, last] = [
    { from: 0, to: firstKept },
    { from: firstKept, to: turns.length },
  ]
  const room = bounds.most - bounds.opening
  plan.shrink(last, ['excerpt'], () => plan.sizeOf(last) <= lastShare * room)
  const left = Math.max(0, room - plan.sizeOf(last))
  const isLow = () => plan.sizeOf(older) <= bounds.low * left
  const wantOf = (result: string) => wanted.get(result) ?? 'stub'
  for (const want of keepOptions) plan.foldEach(older, want, (result) => wanted.get(result) === want)
  for (const want of keepOptions.toReversed()) plan.shrink(older, all, isLow, (result) => !isLess(want, wantOf(result)))
  plan.shrink(last, all, () => plan.tokens() <= bounds.most)
  return plan.view
}

/** Of what the opening leaves, the share that the last turns may take before they are folded themselves. */
const lastShare = 0.75
const all = formOrder.filter((form) => form !== 'whole')

/** The messages that each turn is followed by; `null` for a turn that is dropped. */
export function shownIn({ forms, noted }: Pick<View, 'forms' | 'noted'>, turns: readonly PastTurn[], folding: Folding) {
  return turns.map((turn, i): readonly Message[] | null => {
    const form = forms[i] ?? []
    if (isDropped(form)) return null
    const shown = foldedTurn(turn, form, folding)
    return i === noted ? withNote(shown, noteOf(forms, turns, folding)) : shown
  })
}

/** The first turn that stays and has a result: it is to say what is left out, as the opening never changes. */
const notedTurn = (forms: readonly (readonly Form[])[], turns: readonly PastTurn[]): number =>
  forms.some(isDropped) ? turns.findIndex(({ results }, i) => results.length > 0 && !isDropped(forms[i])) : -1

const noteOf = (forms: readonly (readonly Form[])[], turns: readonly PastTurn[], folding: Folding): string =>
  leftOut(
    turns.flatMap(({ results }, turn) => (isDropped(forms[turn]) ? results : [])),
    folding,
  )

function withNote(shown: readonly Message[], note: string): readonly Message[] {
  const at = shown.findIndex(({ role }) => role === 'tool')
  return shown.map((message, i) => (i === at ? { ...message, content: `${note}\n${message.content}` } : message))
}

const isDropped = (forms: readonly Form[] | undefined): boolean => forms?.[0] === 'dropped'

function foldedTurn({ shown, results }: PastTurn, forms: readonly Form[], folding: Folding): readonly Message[] {
  let at = 0
  return shown.map((message) => {
    if (message.role !== 'tool') return message
    const made = folded(message, results[at] ?? '', forms[at] ?? 'whole', folding)
    at++
    return made
  })
}

interface Range {
  readonly from: number
  readonly to: number
}

/** A view while it is being folded. */
class Plan {
  readonly #forms: Form[][]
  readonly #turns: readonly PastTurn[]
  readonly #bounds: Bounds
  readonly #count: Count
  readonly #sizes: number[]
  /** Of all, without the note of what is left out. */
  #sum: number
  /** What the note takes; `null` where a change may have changed it. */
  #note: number | null = null

  constructor({ forms, sizes }: View, turns: readonly PastTurn[], bounds: Bounds, count: Count) {
    this.#forms = forms.map((one) => [...one])
    this.#turns = turns
    this.#bounds = bounds
    this.#count = count
    this.#sizes = [...sizes]
    this.#sum = this.#sizes.reduce((sum, size) => sum + size, bounds.opening)
  }

  get view(): View {
    const noted = notedTurn(this.#forms, this.#turns)
    return { forms: this.#forms, sizes: this.#sizes, noted, tokens: this.tokens() }
  }

  /** Exact: the note of what is left out is counted with the turn that has it. */
  tokens(): number {
    return this.#sum + this.#noteSize()
  }

  /** Tokens of some turns; where one of them says what is left out, that is counted too. */
  sizeOf({ from, to }: Range): number {
    const noted = notedTurn(this.#forms, this.#turns)
    let sum = noted >= from && noted < to ? this.#noteSize() : 0
    for (let turn = from; turn < to; turn++) sum += this.#sizes[turn] ?? 0
    return sum
  }

  foldEach({ from, to }: Range, form: Form, may: (result: string) => boolean): void {
    for (let turn = from; turn < to; turn++) this.#fold(turn, form, may)
  }

  /** Folds more and more of the results that may be, the oldest first, until it is enough; the last turn is not dropped. */
  shrink(
    { from, to }: Range,
    forms: readonly Form[],
    isEnough: () => boolean,
    may: (result: string) => boolean = () => true,
  ): void {
    for (const form of forms) {
      for (let turn = from; turn < to; turn++) {
        if (isEnough()) return
        if (form === 'dropped') this.#drop(turn, may)
        else this.#fold(turn, form, may)
      }
    }
  }

  #fold(turn: number, form: Form, may: (result: string) => boolean): void {
    const [past, forms] = [this.#turns[turn], this.#forms[turn]]
    if (!past || !forms || !this.#bounds.forms.includes(form)) return
    const results = past.shown.filter((message) => message.role === 'tool')
    let isChanged = false
    for (const [i, id] of past.results.entries()) {
      const result = results[i]
      if (!result || !may(id) || !isLess(form, forms[i] ?? 'dropped')) continue
      // A short result would only grow.
      if (folded(result, id, form, this.#bounds) === result) continue
      forms[i] = form
      isChanged = true
    }
    if (isChanged) this.#resize(turn)
  }

  #drop(turn: number, may: (result: string) => boolean): void {
    const { shown = [], results = [] } = this.#turns[turn] ?? {}
    const droppable = results.length > 0 && results.length === shown.length && results.every(may)
    if (!droppable || turn === this.#turns.length - 1 || !this.#bounds.forms.includes('dropped')) return
    this.#forms[turn] = results.map(() => 'dropped')
    this.#resize(turn)
  }

  #resize(turn: number): void {
    const size = this.#measure(turn)
    this.#sum += size - (this.#sizes[turn] ?? 0)
    this.#sizes[turn] = size
    this.#note = null
  }

  #measure(turn: number): number {
    const [past, forms] = [this.#turns[turn], this.#forms[turn] ?? []]
    if (!past || isDropped(forms)) return 0
    return past.said + this.#count(foldedTurn(past, forms, this.#bounds), turn)
  }

  #noteSize(): number {
    return (this.#note ??= this.#measureNote())
  }

  #measureNote(): number {
    const noted = notedTurn(this.#forms, this.#turns)
    const past = this.#turns[noted]
    if (!past) return 0
    const shown = foldedTurn(past, this.#forms[noted] ?? [], this.#bounds)
    const withIt = this.#count(withNote(shown, noteOf(this.#forms, this.#turns, this.#bounds)), noted)
    return past.said + withIt - (this.#sizes[noted] ?? 0)
  }
}
