import { expect, it } from 'vitest'
import { learnedSkill } from '../../../test/support/skills.ts'
import { skillBounds, skills, SkillsValue } from '../../agent/index.ts'
import { Shelf } from './shelf.ts'

const empty = () => new Shelf(SkillsValue.parse(skills().initial(() => '')))
/** Skills of about `bytes` each: their tests are what is large. */
const large = (name: string) => {
  const test = { input: {}, task: 'x'.repeat(60_000), calls: [], output: null }
  return learnedSkill({
    name,
    source: `function run() { return '${name}' }`,
    tests: Array.from({ length: 8 }, () => test),
  })
}

it('refuses what is more than a value may have, and changes nothing', () => {
  const shelf = empty()
  const refused = () => {
    for (let i = 0; i < skillBounds.skills; i++) shelf.put(large(`skill_${i}`))
  }
  expect(refused).toThrow(expect.objectContaining({ code: 'skill/no-room', hint: expect.stringContaining('capacity') }))
  const before = shelf.value()
  const [first] = shelf.skills
  expect(SkillsValue.safeParse(before).success, 'what stands there is still a value').toBe(true)
  const more = { ...large('more'), cues: Array.from({ length: 8 }, () => 'x'.repeat(512)) }
  expect(() => shelf.put(more)).toThrow(expect.objectContaining({ code: 'skill/no-room' }))
  expect(shelf.value()).toEqual(before)
  shelf.put(large('instead'), first ? [first] : [])
  expect(shelf.skills).toHaveLength(before.skills.length)
})

it('refuses more skills than a value may have', () => {
  const shelf = empty()
  const small = (i: number) => learnedSkill({ name: `s${i}`, source: `function run() { return ${i} }` })
  for (let i = 0; i < skillBounds.skills; i++) shelf.put(small(i))
  expect(() => shelf.put(small(999))).toThrow(expect.objectContaining({ code: 'skill/no-room' }))
  expect(shelf.skills).toHaveLength(skillBounds.skills)
})

it('leaves what people made, whatever is to stand instead', () => {
  const shelf = empty()
  const theirs = learnedSkill({ madeBy: 'people' })
  shelf.put(theirs)
  shelf.put(learnedSkill({ name: 'other', source: 'function run() {}' }), [theirs])
  expect(shelf.get(theirs.id)).toEqual(theirs)
})
