import { describe, expect, it } from 'vitest'
import { type SeenCall, type SkillExperience, skills, SkillsValue } from '../../agent/index.ts'
import { Json, type Seat, TrajectoryId } from '../../core/index.ts'
import { induce } from './induce.ts'

const value = SkillsValue.parse(skills().initial(() => ''))
const seat = { parameter: 'tools', value } as unknown as Seat<SkillsValue>

const call = (name: string, given: Record<string, string>, content: string): SeenCall => ({
  name,
  arguments: given,
  content,
  isError: false,
  run: null,
})

/** An episode that looked an order up and sent it. */
const lived = (n: number, change: Partial<SkillExperience> = {}): SkillExperience => ({
  trajectory: TrajectoryId.parse(`t-${n}`),
  at: n,
  origin: 'rollout',
  owner: { tenant: null, about: null },
  source: `task:${n}`,
  derivedFrom: [`t-${n}`],
  whole: true,
  advantage: null,
  earned: 1,
  cue: `Send the parcel of Person${n}.`,
  model: null,
  skills: [],
  bare: false,
  uses: [],
  calls: [
    call('find', { name: `Person${n}` }, JSON.stringify({ order: `A${n}` })),
    call('send', { order: `A${n}` }, `sent A${n}`),
  ],
  ...change,
})

/** What a session comes to that takes these batches, saved and opened anew after each where `resumed`. */
async function learned(batches: readonly (readonly SkillExperience[])[], resumed: boolean) {
  const optimizer = induce()
  let learning = await optimizer.open(seat, null)
  for (const [update, batch] of batches.entries()) {
    await learning.step(batch, update)
    if (!resumed) continue
    const state = Json.parse(JSON.parse(JSON.stringify((await learning.save()).state)))
    await learning.close?.()
    learning = await optimizer.open(seat, { state, blobs: {} })
  }
  return { proposed: await learning.propose(), saved: (await learning.save()).state }
}

const batches = [[0, 1], [2, 3], [4], [5, 6]].map((batch) => batch.map((n) => lived(n)))

describe('skills from what worked', () => {
  it('are learned once enough tasks share a routine, with tests from their episodes', async () => {
    expect((await learned(batches.slice(0, 1), false)).proposed).toBeNull()
    const { proposed } = await learned(batches, false)
    const [skill, ...more] = SkillsValue.parse(proposed).skills
    expect(more).toEqual([])
    expect(skill).toMatchObject({ uses: ['find', 'send'], madeBy: 'learned', model: null })
    expect(skill?.tests.length).toBeGreaterThan(1)
  })

  it('are the same, and what was counted is the same, where the process died after any batch', async () => {
    const [whole, resumed] = [await learned(batches, false), await learned(batches, true)]
    expect(resumed).toEqual(whole)
    const { saved } = resumed
    expect(saved).toMatchObject({ traces: expect.any(Array), heard: {} })
  })

  it('of one model are made of what that model did', async () => {
    const other = batches.map((batch) => batch.map((one) => ({ ...one, model: 'old' })))
    const { saved } = await learned(
      [...other.slice(0, 1), [lived(9, { model: 'new' }), lived(10, { model: 'new' })]],
      false,
    )
    expect(SkillsValue.parse((saved as { value: unknown }).value).skills).toEqual([])
    const { proposed } = await learned([...other, [lived(9, { model: 'new' })]], false)
    // What was learned with the old one is bound to the new one, and judged anew.
    expect(SkillsValue.parse(proposed).skills).toMatchObject([{ model: 'new' }])
  })

  it('are none of episodes that failed', async () => {
    const failed = batches.map((batch) => batch.map((one) => ({ ...one, earned: -1 })))
    expect((await learned(failed, false)).proposed).toBeNull()
  })
})
