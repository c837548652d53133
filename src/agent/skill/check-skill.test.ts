import { describe, expect, it } from 'vitest'
import { learnedSkill } from '../../../test/support/skills.ts'
import { checkSkill } from './check-skill.ts'
import type { SkillTest } from './skill.ts'

const test: SkillTest = {
  input: { order: 'A1' },
  task: 'Open the order A1.',
  calls: [
    { name: 'fetch', arguments: { order: 'A1' }, answer: { content: 'shelf 3', isError: false } },
    { name: 'open', arguments: { at: 'shelf 3' }, answer: { content: 'opened', isError: false } },
  ],
  output: 'opened',
}
const [fetches, opens] = test.calls as [SkillTest['calls'][number], SkillTest['calls'][number]]

describe('a skill’s tests', () => {
  it('pass where it makes the calls that they expect, and gives what they expect', async () => {
    await checkSkill(learnedSkill({ tests: [test, { ...test, output: null }] }))
  })

  it.each([
    ['another call', { calls: [{ ...fetches, arguments: { order: 'B2' } }, opens] }, /call 1 is fetch/],
    ['a call that is not made', { calls: [fetches, opens, opens] }, /made 2 of 3/],
    ['no call more', { calls: [fetches] }, /after all calls/],
    ['another answer', { output: 'closed' }, /something else/],
  ])('fail where they expect %s', async (_, change, says) => {
    const skill = learnedSkill({ tests: [test, { ...test, ...change }] })
    await expect(checkSkill(skill)).rejects.toMatchObject({
      code: 'skill/failed-test',
      message: expect.stringMatching(says),
    })
    await expect(checkSkill(skill)).rejects.toThrow(/test 2/)
  })

  it.each([
    ['skill/loops', 'for (;;) {}'],
    ['skill/loops', 'function run() { for (;;) {} }'],
    ['skill/reaches-outside', 'const fs = require("fs"); function run() {}'],
    ['skill/reaches-outside', 'function run() { return process.env.KEY }'],
    ['skill/threw', 'const walk = () => 1'],
    ['skill/threw', 'function run('],
  ])('throw %s for: %s', async (code, source) => {
    await expect(checkSkill(learnedSkill({ source, tests: [test] }))).rejects.toMatchObject({ code })
  })
})
