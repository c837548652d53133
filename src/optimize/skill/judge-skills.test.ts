import { describe, expect, it } from 'vitest'
import { learnedSkill } from '../../../test/support/skills.ts'
import { lexicalEmbedder, Likeness, type Skill, type SkillExperience, skills, SkillsValue } from '../../agent/index.ts'
import { TrajectoryId } from '../../core/index.ts'
import { judged } from './judge-skills.ts'
import { type Heard, type Observation, observed } from './observe.ts'
import { Shelf } from './shelf.ts'

const valueOf = (...of: readonly Skill[]) =>
  SkillsValue.parse({ ...(skills().initial(() => '') as object), skills: of, counts: {}, rules: [] })

const learned = learnedSkill()
const judging = { ruleFor: 1_000, capacity: 64, tokenPrice: 0, at: 100 }

/** An episode in which the skill was offered and called, or left out. */
const lived = (n: number, offered: boolean, change: Partial<SkillExperience> = {}): SkillExperience => ({
  trajectory: TrajectoryId.parse(`t-${n}`),
  at: n,
  origin: 'rollout',
  owner: { tenant: null, about: null },
  source: `task:${n}`,
  derivedFrom: [`t-${n}`],
  whole: true,
  advantage: null,
  earned: 1,
  cue: 'Open the order A1.',
  model: null,
  skills: [{ id: learned.id, similarity: 1, score: 1, barred: false, offered }],
  bare: !offered,
  uses: offered ? [{ id: learned.id, run: 0, error: null }] : [],
  calls: [],
  ...change,
})

/** What becomes of the skill after episodes that failed with it and worked without. */
async function afterHarm(skill: Skill, count: number, change: (n: number) => Partial<SkillExperience> = () => ({})) {
  const shelf = new Shelf(valueOf(skill))
  const likeness = new Likeness(lexicalEmbedder())
  const heard: Heard = new Map()
  const observations: Observation[] = []
  for (let n = 0; n < count; n++) {
    const offered = n % 2 === 0
    const came = offered ? ({ signal: -1, example: 'failed' } as const) : ({ signal: 1, example: 'worked' } as const)
    const experience = lived(n, offered, change(n))
    const own = { ...experience, skills: experience.skills.map((one) => ({ ...one, id: skill.id })) }
    observations.push(...(await observed(own, came, { shelf, likeness, heard })))
  }
  const verdict = await judged(shelf, observations, { ...judging, likeness })
  return { shelf, verdict }
}

describe('a skill with which episodes go worse', () => {
  it('is barred by a rule that ends, and that trials can prove wrong', async () => {
    const { shelf, verdict } = await afterHarm(learned, 16)
    expect(verdict).toMatchObject({ barred: 1, pruned: 0 })
    expect(shelf.rules).toMatchObject([
      { skill: learned.id, because: 'harm', scope: null, expires: 1_100, falsifier: { trials: 4, atLeast: 1 } },
    ])
  })

  it('stays where too little was seen, and where people made it', async () => {
    expect((await afterHarm(learned, 6)).shelf.rules).toEqual([])
    const theirs = learnedSkill({ madeBy: 'people', derivedFrom: [] })
    const { shelf } = await afterHarm(theirs, 40)
    expect([shelf.rules, shelf.skills.length]).toEqual([[], 1])
  })

  it('is barred by several people, and by no one of them alone, where many use it', async () => {
    const said = (source: string) => ({ origin: 'traffic', source }) as const
    expect((await afterHarm(learned, 40, () => said('person:ada'))).shelf.rules).toEqual([])
    expect((await afterHarm(learned, 40, (n) => said(`person:${n >> 2}`))).shelf.rules).toHaveLength(1)
  })

  it('is removed once trials confirm a rule that holds everywhere', async () => {
    const { shelf } = await afterHarm(learned, 16)
    const likeness = new Likeness(lexicalEmbedder())
    const trial = { id: learned.id, similarity: 1, score: 1, barred: true, offered: true }
    for (let n = 0; n < 4; n++) {
      const came = { signal: -1, example: 'failed' } as const
      await observed(lived(n, true, { skills: [trial] }), came, { shelf, likeness, heard: new Map() })
    }
    expect(await judged(shelf, [], { ...judging, likeness })).toMatchObject({ pruned: 1 })
    expect(shelf.skills).toEqual([])
    expect(shelf.rules, 'it stays, so that the skill is not learned again').toHaveLength(1)
  })
})

it('takes no skill beyond its bytes: what is there stays', () => {
  const large = (i: number) => {
    const test = { input: {}, task: String(i), calls: [], output: 'x'.repeat(60_000) }
    const source = `function run() { return ${i} }`
    return learnedSkill({ name: `large_${i}`, source, tests: Array.from({ length: 8 }, () => test) })
  }
  const shelf = new Shelf(valueOf())
  const taken = Array.from({ length: 40 }, (_, i) => shelf.put(large(i)))
  expect(taken.filter(Boolean).length).toBeGreaterThan(30)
  expect(taken.at(-1)).toBe(false)
  expect(() => SkillsValue.parse(shelf.value())).not.toThrow()
})
