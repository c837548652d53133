import { expect, it } from 'vitest'
import { talk, told } from '../../../test/support/traffic-session.ts'
import { byTruth, rubric, trafficRubric } from '../index.ts'

const usual = trafficRubric()
const late = 1_000 * 60_000
const ask = 'What is the price of plums?'
const answered = talk([ask, 'Plums cost 3 euros a kilo.'])
const up = told('thumbs', true)
const known = (truth: number) => byTruth(usual, new Map([[answered.id, truth]]))

it('pays what a label says instead of what people pressed, and where nobody did anything', async () => {
  expect(await known(0).score(answered, [up], late)).toEqual({
    status: 'scored',
    value: -1,
    parts: { thumbs: 1, truth: -1 },
  })
  expect(await known(0.75).score(answered, [], late)).toMatchObject({ status: 'scored', value: 0.5 })
})

it('leaves vetoes, sessions that came to no end, and all that nobody labelled', async () => {
  const session = talk([ask, 'Plums cost 3 euros a kilo.'], { id: 'another' })
  const pressed = { ...up, trajectory: session.id }
  expect(await known(0).score(session, [pressed], late)).toEqual({ status: 'scored', value: 1, parts: { thumbs: 1 } })
  const silent = talk([ask, ''])
  expect(await known(1).score(silent, [up], late)).toMatchObject({ status: 'vetoed', value: -1 })
  const broken = { ...answered, stopReason: 'token-budget' as const }
  expect(await known(1).score(broken, [up], late)).toMatchObject({ status: 'scored', value: -1 })
  expect(byTruth(usual, new Map())).toBe(usual)
})

it('charges for no choice where a label decides', async () => {
  const price = { identity: 'price', charges: 'route', score: () => -0.25 }
  const base = rubric({ up: { identity: 'up', score: () => 0.5 }, price }, { floor: -1 })
  const charged = async (truths: ReadonlyMap<typeof answered.id, number>) => {
    const made = byTruth(base, truths)
    return made.chargedFor?.('route', answered, await made.score(answered, [], late))
  }
  expect(await charged(new Map([[answered.id, 0]]))).toBe(0)
  expect(await charged(new Map([[talk([ask], { id: 'another' }).id, 0]]))).toBe(0.25)
})
