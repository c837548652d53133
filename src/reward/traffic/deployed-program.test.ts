import { expect, it } from 'vitest'
import { talk, told } from '../../../test/support/traffic-session.ts'
import { Decision, type Trajectory } from '../../core/index.ts'
import { guardMetrics, implicitSignals, trafficRubric } from '../index.ts'

/** As a deployed program records a session: its steps are no calls of a gateway. */
const ofProgram = (session: Trajectory): Trajectory => ({
  ...session,
  steps: session.steps.map(({ index, action, observations, decisions }) => ({
    index,
    action,
    observations,
    decisions,
  })),
})
const rubric = trafficRubric()
const late = 1_000 * 60_000
const ask = 'What is the price of plums?'
const answer = 'Plums cost 3 euros a kilo.'

it('is read as a session of the gateway is: what its users do, and what must not pay', async () => {
  const thanked = ofProgram(talk([ask, answer, 'Thanks!']))
  expect(await rubric.score(thanked, [], late)).toMatchObject({ value: 1, parts: { implicit: 1 } })
  const silent = ofProgram(talk([ask, '', 'Hello?']))
  expect(await rubric.score(silent, [], late)).toMatchObject({ status: 'vetoed', guard: 'no-answer' })
  expect(guardMetrics(silent).inaction).toBe(1)
  expect(implicitSignals({ ...thanked, origin: { kind: 'rollout' } }, late)).toEqual([])
})

it('is not vetoed for words that nobody recorded, as of a program that speaks through its environment', async () => {
  const made = { id: 'd', step: 0, parameter: 'route', kind: 'choice', version: 'a'.repeat(64), generation: 1 }
  const chose = Decision.parse({ ...made, checkpoint: null, inputs: [], output: null, propensity: { log: 0 } })
  const unheard = { ...ofProgram(talk([])), decisions: [chose] }
  expect(await rubric.score(unheard, [told('thumbs', true)], late)).toMatchObject({ status: 'scored', value: 1 })
  expect(guardMetrics(unheard).inaction).toBe(0)
})
