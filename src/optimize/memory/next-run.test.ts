import { describe, expect, it } from 'vitest'
import { experience, item } from '../../../test/support/memory-items.ts'
import { type Experience, memory, type MemoryItem, MemoryValue } from '../../agent/index.ts'
import { rng, VersionId } from '../../core/index.ts'
import { caseSelector } from './case-selector.ts'
import { caseUtility } from './case-utility.ts'
import { insights } from './insights.ts'
import type { MemoryPart } from './part.ts'

/** What a run proposes that begins with a value, as one over traffic does: it takes one step. */
async function afterRun(
  part: MemoryPart,
  value: MemoryValue,
  experiences: readonly Experience[],
): Promise<MemoryValue> {
  const seat = {
    parameter: 'cases',
    version: VersionId.parse('0'.repeat(64)),
    value,
    rng: (...key: readonly (string | number)[]) => rng('run', ...key),
    evaluate: null,
  }
  const learning = await caseUtility({ also: [part] }).open(seat, null)
  await learning.step(experiences, 0)
  return MemoryValue.parse(await learning.propose())
}

const withItems = (items: readonly MemoryItem[] = []) => MemoryValue.parse(memory({ items }).initial(() => ''))

/** Sessions about vouchers and kettles, each of which has its desk; `turned`, the other one. */
const sessions = (run: number, count: number, { turned = false, only = '' } = {}) =>
  Array.from({ length: count }, (_, i) => {
    const about = only === '' ? (['voucher', 'kettle'][i % 2] ?? '') : only
    const done = i % 4 < 2 ? 'amber' : 'birch'
    const right = (about === 'voucher') === turned ? 'amber' : 'birch'
    const name = `${run}-${i}`
    return experience(name, { cue: `the ${about}`, done, earned: done === right ? 1 : 0, at: run * 1_000 + i })
  })

const insightsIn = ({ items }: MemoryValue) =>
  items.filter(({ type }) => type === 'insight').map(({ cue, text }) => `${cue}: ${text.split(': ').at(-1)}`)

describe('an insight that was released', () => {
  const released = () => afterRun(insights(), withItems(), sessions(1, 160))

  it('stays where a later run has seen too little to say otherwise', async () => {
    const first = await released()
    expect(insightsIn(first).toSorted()).toEqual(['kettle: amber', 'voucher: birch'])
    const parcels = sessions(2, 40, { only: 'parcel' }).map((one) => ({ ...one, done: 'amber' }))
    const second = await afterRun(insights(), first, parcels)
    const third = await afterRun(insights(), second, sessions(3, 12))
    expect(third.items.filter(({ type }) => type === 'insight')).toEqual(
      first.items.filter(({ type }) => type === 'insight'),
    )
  })

  it('stays where fewer sessions than it stands on agree, and do not prove it anew', async () => {
    const first = await released()
    // Three in four are as before.
    const mostly = sessions(2, 80).map((one, i) => (i % 5 === 0 ? { ...one, earned: 1 - (one.earned ?? 0) } : one))
    expect(insightsIn(await afterRun(insights(), first, mostly))).toContain('voucher: birch')
  })

  it('goes where a later run says otherwise', async () => {
    const second = await afterRun(insights(), await released(), sessions(2, 160, { turned: true }))
    expect(insightsIn(second)).toContain('voucher: amber')
    expect(insightsIn(second)).not.toContain('voucher: birch')
  })

  it('goes where as many sessions as it stands on do not bear it out', async () => {
    const chance = rng('coin')
    const noise = sessions(2, 200).map((one) => ({ ...one, earned: chance.next() < 0.5 ? 1 : 0 }))
    expect(insightsIn(await afterRun(insights(), await released(), noise))).not.toContain('voucher: birch')
  })

  it('is joined by what later runs find', async () => {
    const first = await afterRun(insights(), withItems(), sessions(1, 80, { only: 'voucher' }))
    const second = await afterRun(insights(), first, sessions(2, 80, { only: 'kettle' }))
    expect(insightsIn(second)).toEqual(expect.arrayContaining(['voucher: birch', 'kettle: amber']))
  })
})

it('an insight that people wrote stays, whatever sessions say', async () => {
  const written = item('voucher', { type: 'insight', text: 'Vouchers go to the desk amber.', source: 'the manual' })
  const { items } = await afterRun(insights(), withItems([written]), sessions(1, 160))
  expect(items).toContainEqual(written)
  const [learned] = (await afterRun(insights(), withItems(), sessions(1, 160))).items.filter(
    ({ type }) => type === 'insight',
  )
  const same = { ...item('x'), ...learned, source: 'the manual', derivedFrom: [], trust: 1 }
  expect((await afterRun(insights(), withItems([same]), sessions(1, 160))).items).toContainEqual(same)
})

describe('a selector that was released', () => {
  const near = item('near')
  const recalls = (run: number, count: number, works: (similarity: number, i: number) => boolean) =>
    Array.from({ length: count }, (_, i) => {
      const similarity = i % 2 === 0 ? 0.9 : 0.4
      const recalled = [{ id: near.id, similarity, score: 0, shown: true }]
      return experience(`${run}-${i}`, {
        recalled,
        earned: works(similarity, i) ? 1 : 0,
        done: '',
        at: run * 1_000 + i,
      })
    })
  const released = () =>
    afterRun(
      caseSelector(),
      withItems([near]),
      recalls(1, 200, (similarity) => similarity > 0.5),
    )

  it.each([
    ['has seen less than it learns from', 20, () => false],
    ['has seen nothing that went badly', 100, () => true],
  ])('stays where a later run %s', async (_, count, works) => {
    const first = await released()
    expect(first.selector).not.toBeNull()
    expect((await afterRun(caseSelector(), first, recalls(2, count, works))).selector).toEqual(first.selector)
  })

  it('goes where enough recalls show that nothing foretells them', async () => {
    const works = (_: number, i: number) => i % 4 < 2
    expect((await afterRun(caseSelector(), await released(), recalls(2, 400, works))).selector).toBeNull()
  })
})
