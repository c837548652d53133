import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Message } from '../../core/index.ts'
import { folded, type Form, isLess, type KeepOption } from './form.ts'
import {
  type Bounds,
  type Count,
  emptyView,
  grown,
  type PastTurn,
  shownIn,
  shrunk,
  type View,
  type Wanted,
} from './view.ts'

/** A token a character: sizes can be worked out by hand. */
const count: Count = (messages) => messages.reduce((sum, { content }) => sum + content.length, 0)
const bounds = (change: Partial<Bounds> = {}): Bounds => ({
  opening: 100,
  most: 1_000,
  low: 0.5,
  keepTurns: 1,
  forms: ['excerpt', 'stub', 'dropped'],
  excerpt: 60,
  readBack: 'read_back',
  ...change,
})
const result = (content: string): Message => ({ role: 'tool', name: 'open', content })
const text = (length: number) => 'word '.repeat(Math.ceil(length / 5)).slice(0, length)

/** Turns of ten tokens said and one result each. */
const turnsOf = (sizes: readonly number[]): PastTurn[] =>
  sizes.map((size, i) => ({ said: 10, shown: [result(text(size))], results: [`r${i + 1}`] }))

const nextView = (view: View, turns: readonly PastTurn[], within: Bounds, wanted?: Wanted): View =>
  shrunk(grown(view, turns, count), turns, within, count, wanted)

/** The view of a path, turn by turn, as a conversation comes to it. */
function viewOf(turns: readonly PastTurn[], within: Bounds, wanted?: Wanted): View {
  return turns.reduce((view, _, i) => nextView(view, turns.slice(0, i + 1), within, wanted), emptyView(within))
}
const formsOf = ({ forms }: View) => forms.map((one) => one.join('+'))
const contentsOf = (view: View, turns: readonly PastTurn[], within: Bounds) =>
  shownIn(view, turns, within).map((messages) => messages?.map(({ content }) => content).join('|') ?? null)

describe('what is shown of a path', () => {
  it('is all of it, while that fits', () => {
    const turns = turnsOf([200, 200, 200])
    expect(viewOf(turns, bounds())).toEqual({
      forms: [['whole'], ['whole'], ['whole']],
      sizes: [210, 210, 210],
      noted: -1,
      tokens: 100 + 3 * 210,
    })
  })

  it('has excerpts of the oldest results once it does not, down to the lower mark', () => {
    const turns = turnsOf([400, 400, 400])
    const view = viewOf(turns, bounds())
    // 1,330 are too many. The last turn takes 410, and of the 490 that are left the others may take 245. With its note an excerpt
    // takes some 120: two, and what was said, take 262.
    expect(formsOf(view)).toEqual(['stub', 'excerpt', 'whole'])
    expect(view.tokens).toBeLessThanOrEqual(1_000)
    const [first] = contentsOf(view, turns, bounds())
    expect(first).toBe('[400 characters of r1 left out; read_back r1 shows them]')
  })

  it('stays as it is for the next turns: it is folded in steps', () => {
    const turns = turnsOf(Array.from({ length: 40 }, () => 90))
    const changed = turns.filter((_, i) => {
      const [before, after] = [viewOf(turns.slice(0, i), bounds()), viewOf(turns.slice(0, i + 1), bounds())]
      return JSON.stringify(after.forms.slice(0, i)) !== JSON.stringify(before.forms)
    })
    expect(changed.length).toBeLessThan(10)
    expect(changed.length).toBeGreaterThan(2)
  })

  it('drops whole turns, the oldest first, where stubs are not enough, and says which', () => {
    const turns = turnsOf(Array.from({ length: 30 }, () => 90))
    const view = viewOf(turns, bounds({ forms: ['stub', 'dropped'] }))
    const kept = formsOf(view).findIndex((form) => form !== 'dropped')
    expect(kept).toBeGreaterThan(0)
    expect(formsOf(view).slice(kept)).not.toContain('dropped')
    const contents = contentsOf(view, turns, bounds())
    expect(contents.slice(0, kept)).toEqual(Array.from({ length: kept }, () => null))
    expect(contents[kept]).toMatch(
      new RegExp(`^\\[Left out: turns with the results r1 to r${kept}; read_back shows one by its name\\]\\n`),
    )
  })

  it('folds the last turn only where nothing else is left, and never drops it', () => {
    const turns = turnsOf([50, 5_000])
    expect(formsOf(viewOf(turns, bounds({ keepTurns: 2 })))).toEqual(['whole', 'excerpt'])
    const alone = viewOf(turnsOf([5_000]), bounds({ forms: ['dropped'] }))
    expect(formsOf(alone)).toEqual(['whole'])
    expect(alone.tokens).toBe(5_110)
  })

  it('never folds or drops what users say', () => {
    const turns = turnsOf([90, 90, 90]).map(
      (turn): PastTurn => ({
        ...turn,
        shown: [...turn.shown, { role: 'user', content: text(300) }],
      }),
    )
    const contents = contentsOf(viewOf(turns, bounds()), turns, bounds())
    for (const content of contents) expect(content).toContain(text(300))
  })

  it('goes by what was wanted first, and then folds what was wanted least', () => {
    const turns = turnsOf([300, 300, 300, 90])
    const wanted = new Map<string, KeepOption>([
      ['r1', 'whole'],
      ['r2', 'stub'],
      ['r3', 'excerpt'],
    ])
    const formsAt = (low: number) => {
      const within = bounds({ low })
      return formsOf(nextView(emptyView(within), turns, within, wanted))
    }
    // The last turn leaves 800. As wanted the others take about 510.
    expect(formsAt(0.7)).toEqual(['whole', 'stub', 'excerpt', 'whole'])
    expect(formsAt(0.5)).toEqual(['whole', 'dropped', 'dropped', 'whole'])
  })
})

describe('of any path', () => {
  const paths = fc.record({
    sizes: fc.array(fc.array(fc.nat(600), { maxLength: 3 }), { maxLength: 25 }),
    said: fc.nat(40),
    talks: fc.nat(5),
    most: fc.integer({ min: 300, max: 2_000 }),
    low: fc.double({ min: 0, max: 0.9, noNaN: true }),
    keepTurns: fc.integer({ min: 1, max: 4 }),
    excerpt: fc.integer({ min: 16, max: 200 }),
    forms: fc.subarray(['excerpt', 'stub', 'dropped'] as const satisfies Form[]),
    wants: fc.array(fc.constantFrom(...(['whole', 'excerpt', 'stub'] as const)), { minLength: 1, maxLength: 8 }),
  })
  const made = ({
    sizes,
    said,
    talks,
    most,
    low,
    wants,
    ...rest
  }: typeof paths extends fc.Arbitrary<infer P> ? P : never) => {
    let number = 0
    const turns = sizes.map(
      (results, i): PastTurn => ({
        said,
        shown: [
          ...results.map((size) => result(text(size))),
          ...(talks > 0 && i % (talks + 1) === talks ? [{ role: 'user', content: `user ${i}` } as const] : []),
        ],
        results: results.map(() => `r${++number}`),
      }),
    )
    const within = bounds({ ...rest, most, low })
    const wanted = new Map(
      turns.flatMap(({ results }) => results).map((id, i) => [id, wants[i % wants.length] ?? 'stub']),
    )
    return { turns, within, wanted }
  }

  it('the view is within its most, or nothing more can be folded; and its tokens are those of what is shown', () => {
    fc.assert(
      fc.property(paths, (path) => {
        const { turns, within, wanted } = made(path)
        const view = viewOf(turns, within, wanted)
        const shown = shownIn(view, turns, within)
        const tokens = turns.reduce(
          (sum, { said }, i) => sum + (shown[i] ? said + count(shown[i], i) : 0),
          within.opening,
        )
        expect(view.tokens).toBe(tokens)
        if (view.tokens <= within.most) return
        for (const [i, forms] of view.forms.entries()) {
          const results = turns[i]?.shown.filter((message) => message.role === 'tool') ?? []
          const droppable = within.forms.includes('dropped') && i < turns.length - 1 && results.length > 0
          if (droppable && results.length === turns[i]?.shown.length) expect(forms[0]).toBe('dropped')
          else
            for (const [k, form] of forms.entries())
              for (const less of within.forms.filter((one) => one !== 'dropped' && isLess(one, form)))
                expect(folded(results[k]!, turns[i]?.results[k] ?? '', less, within)).toBe(results[k])
        }
      }),
    )
  })

  it('calls and results stay pairs, the last turn stays, and what was folded is never unfolded', () => {
    fc.assert(
      fc.property(paths, (path) => {
        const { turns, within, wanted } = made(path)
        let before: View = emptyView(within)
        for (const [i] of turns.entries()) {
          const view = nextView(before, turns.slice(0, i + 1), within, wanted)
          const order = ['whole', 'excerpt', 'stub', 'dropped']
          for (const [t, forms] of before.forms.entries())
            for (const [k, form] of forms.entries())
              expect(order.indexOf(view.forms[t]?.[k] ?? '')).toBeGreaterThanOrEqual(order.indexOf(form))
          const shown = shownIn(view, turns.slice(0, i + 1), within)
          expect(shown.at(-1)).not.toBeNull()
          for (const [t, messages] of shown.entries()) {
            if (messages === null) continue
            expect(messages.map(({ role }) => role)).toEqual(turns[t]?.shown.map(({ role }) => role))
          }
          before = view
        }
      }),
    )
  })
})
