import { describe, expect, it } from 'vitest'
import { trajectoryOf } from '../../../test/support/trajectories.ts'
import type { Json } from '../../core/index.ts'
import { testsPass } from './index.ts'

const tests: Json = [
  { call: 'add', args: [1, 2], returns: 3 },
  { call: 'add', args: [-1, 1], returns: 0 },
]
const score = (code: string, options: object = {}, of: Json = tests) =>
  testsPass({ tests: { at: '/tests' }, ...options }).score(
    trajectoryOf({
      nodes: [{ id: 'a', message: { role: 'assistant', content: code } }],
      finalState: { state: { tests: of }, counts: {} },
    }),
    [],
    0,
  )

describe('tests of code', () => {
  it('pass, all or a share', async () => {
    expect(await score('const add = (a, b) => a + b')).toBe(1)
    expect(await score('Here it is:\n```js\nfunction add(a, b) { return a + b }\n```\nDone.')).toBe(1)
    expect(await score('const add = () => 3')).toBe(0)
    expect(await score('const add = () => 3', { partial: true })).toBe(0.5)
  })

  it('fail where the code throws, loops or is none', async () => {
    for (const code of ['add = 1', 'I would rather not.', 'const add = () => { for (;;) {} }']) {
      expect(await score(code, { limits: { steps: 100_000 } })).toBe(0)
    }
  })

  it('cannot be met by changing how values are compared', async () => {
    expect(await score('Object.is = () => true; JSON.stringify = () => "3"; const add = () => ({})')).toBe(0)
  })

  it('without tests there is no reward, and tests that are none are refused', async () => {
    expect(await testsPass({ tests: { at: '/x' } }).score(trajectoryOf(), [], 0)).toBeNull()
    await expect(score('const add = 1', {}, [])).rejects.toMatchObject({ code: 'reward/bad-tests' })
  })
})
