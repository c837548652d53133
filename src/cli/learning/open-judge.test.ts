import { describe, expect, it } from 'vitest'
import { LearnFromTrafficConfig } from '../../learn/index.ts'
import { openJudge } from './open-judge.ts'

const configOf = (audit: object) => LearnFromTrafficConfig.parse({ audit: { share: 0.5, ...audit } })
const model = 'm'

describe('the judge of a configuration', () => {
  it('is none where nothing, or something else, judges', async () => {
    for (const config of [LearnFromTrafficConfig.parse({}), configOf({ by: 'person' })]) {
      const opened = openJudge(config, {})
      expect(opened.judge).toBeUndefined()
      await opened.close()
    }
  })

  it('says what is missing: a model, its key', () => {
    expect(() => openJudge(configOf({ by: 'judge' }), {})).toThrow(expect.objectContaining({ code: 'input/no-judge' }))
    const judge = { model, url: 'http://127.0.0.1:9/v1', keyEnv: 'JUDGE_KEY' }
    expect(() => openJudge(configOf({ by: 'judge', judge }), { JUDGE_KEY: ' ' })).toThrow(
      expect.objectContaining({ code: 'input/missing-upstream-key' }),
    )
  })

  it('is opened when it is asked, and what it cannot reach is thrown to who asks', async () => {
    const opened = openJudge(configOf({ by: 'judge', judge: { model, url: 'http://127.0.0.1:9/v1' } }), {})
    const session = { trajectory: { nodes: [] }, signals: [], asOf: 1, signal: new AbortController().signal }
    await expect(opened.judge?.(session as never)).rejects.toMatchObject({ kind: 'unreachable' })
    await opened.close()
  })
})
