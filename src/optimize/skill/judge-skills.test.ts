import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { learnedSkill } from '../../../test/support/skills.ts'
import { lexicalEmbedder, Likeness, type Moments, noMoments, skills, SkillsValue, withOne } from '../../agent/index.ts'
import { rng } from '../../core/index.ts'
import { judged, upliftOf, upperBoundOf } from './judge-skills.ts'
import { Shelf } from './shelf.ts'

const judging = { at: 1_000, ruleFor: 500, capacity: 64, tokenPrice: 0.02, likeness: new Likeness(lexicalEmbedder()) }
const seen = (count: number, mean: number): Moments => ({ count, mean, squares: count * 0.2 })
const shelfWith = (offered: Moments, leftOut: Moments, called = offered) => {
  const shelf = new Shelf(SkillsValue.parse(skills().initial(() => '')))
  const skill = learnedSkill()
  shelf.put(skill)
  shelf.count(skill.id, { offered, leftOut, called, helped: 0 })
  return { shelf, skill }
}

it('removes a skill that is proven to do harm, and a rule keeps it from being learned again', async () => {
  const { shelf, skill } = shelfWith(seen(80, -0.9), seen(40, 0.2))
  expect(await judged(shelf, [], judging)).toMatchObject({ pruned: 1, barred: 0 })
  expect(shelf.skills).toEqual([])
  expect(shelf.rules).toMatchObject([{ skill: skill.id, because: 'harm', scope: null, expires: 1_500 }])
  await judged(shelf, [], { ...judging, at: 1_500 })
  expect(shelf.rules, 'a rule ends').toEqual([])
})

it('bars a skill that seems to do harm, and removes it once trials say so, too', async () => {
  const { shelf, skill } = shelfWith(seen(20, -0.3), seen(20, 0.15))
  expect(await judged(shelf, [], judging)).toMatchObject({ barred: 1, pruned: 0 })
  shelf.rules = shelf.rules.map((rule) => ({ ...rule, seen: seen(4, -0.8) }))
  expect(await judged(shelf, [], judging)).toMatchObject({ pruned: 1 })
  expect(shelf.get(skill.id)).toBeUndefined()
})

it('lifts a rule that its trials prove wrong, and judges the skill anew', async () => {
  const { shelf, skill } = shelfWith(seen(20, -0.3), seen(20, 0.15))
  await judged(shelf, [], judging)
  shelf.rules = shelf.rules.map((rule) => ({ ...rule, seen: seen(4, 0.9) }))
  expect(await judged(shelf, [], judging)).toMatchObject({ lifted: 1, barred: 0 })
  expect(shelf.rules).toEqual([])
  expect(shelf.countsOf(skill.id).offered).toEqual(noMoments)
})

it('removes what is never called, and leaves what helps', async () => {
  const unused = shelfWith(seen(40, 0), seen(3, 0), noMoments)
  expect(await judged(unused.shelf, [], judging)).toMatchObject({ pruned: 1 })
  const helps = shelfWith(seen(40, 0.8), seen(40, -0.5))
  expect(await judged(helps.shelf, [], judging)).toMatchObject({ pruned: 0, barred: 0 })
})

it('never touches what people made', async () => {
  const { shelf, skill } = shelfWith(seen(80, -0.9), seen(40, 0.2))
  const theirs = { ...skill, id: 'f'.repeat(16), name: 'theirs', madeBy: 'people' } as const
  shelf.put(theirs)
  shelf.count(theirs.id, { offered: seen(80, -0.9), leftOut: seen(40, 0.2), called: seen(80, -0.9), helped: 0 })
  await judged(shelf, [], judging)
  expect(shelf.skills).toEqual([theirs])
})

it('holds the bound of removals at all looks together: a skill that brings nothing is hardly ever removed', () => {
  const looksWrong = { at: 0, fixed: 0 }
  for (let seed = 0; seed < 200; seed++) {
    const chance = rng('looks', seed)
    const won = () => (chance.next() < 0.5 ? 1 : -1)
    let [offered, leftOut] = [noMoments, noMoments]
    const wrong = { at: false, fixed: false }
    for (let look = 0; look < 60; look++) {
      for (let i = 0; i < 6; i++) offered = withOne(offered, won())
      for (let i = 0; i < 2; i++) leftOut = withOne(leftOut, won())
      wrong.at ||= (upperBoundOf(offered, leftOut) ?? 0) < 0
      wrong.fixed ||= (upliftOf(offered, leftOut)?.high ?? 0) < 0
    }
    looksWrong.at += Number(wrong.at)
    looksWrong.fixed += Number(wrong.fixed)
  }
  expect(looksWrong.at).toBeLessThanOrEqual(4)
  expect(looksWrong.at).toBeLessThan(looksWrong.fixed)
})

it('finds a bound that falls with harm and is wider than that of one look', () => {
  const count = fc.integer({ min: 4, max: 500 })
  fc.assert(
    fc.property(count, count, fc.double({ min: -1, max: 1, noNaN: true }), (with_, without, mean) => {
      const [offered, leftOut] = [seen(with_, mean), seen(without, 0)]
      const bound = upperBoundOf(offered, leftOut) ?? expect.fail('no bound')
      expect(bound).toBeGreaterThan(upliftOf(offered, leftOut)?.high ?? Infinity)
      expect(upperBoundOf(seen(with_, mean - 0.5), leftOut)).toBeLessThan(bound)
    }),
  )
})
