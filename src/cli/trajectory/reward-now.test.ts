import { stripVTControlCharacters } from 'node:util'
import { describe, expect, it } from 'vitest'
import { parseInput, Signal, Trajectory } from '../../core/index.ts'
import { ServeConfig } from '../../gateway/index.ts'
import { rewardLine, shortReward } from './reward-line.ts'
import { rewardOf } from './reward-now.ts'

const now = 2_000_000

const call = {
  id: 'c_1',
  choice: 0,
  model: 'gpt',
  upstream: 'openai',
  servedModel: 'gpt-1',
  params: {},
  tools: null,
  finish: 'stop',
  usage: null,
  upstreamId: null,
  startedAt: 1_000,
  firstTokenMs: null,
  totalMs: 500,
  retryOf: null,
}

function episode(agent: string | null = null, origin: object = {}): Trajectory {
  return Trajectory.parse({
    id: 't_1',
    origin: {
      kind: 'traffic',
      tenant: 'default',
      key: 'open',
      session: 's',
      agent,
      subject: null,
      train: true,
      ...origin,
    },
    task: { id: 'traffic:t_1', instruction: 'x', split: 'train' },
    group: 't_1',
    attempt: 0,
    seed: 0,
    nodes: [
      {
        id: 'n_1',
        parent: null,
        message: { role: 'user', content: 'How do I cancel my order of yesterday?' },
        spans: [],
        at: 1_000,
      },
      {
        id: 'n_2',
        parent: 'n_1',
        message: { role: 'assistant', content: 'Open your orders and press Cancel beside it.' },
        spans: [],
        at: 1_500,
      },
    ],
    steps: [{ index: 0, action: 'n_2', observations: [], decisions: [], call }],
    decisions: [],
    stopReason: 'done',
    failure: null,
    finalState: null,
    startedAt: 1_000,
    seconds: 1,
  })
}

const told = (name: string, value: boolean | number): Signal =>
  Signal.parse({
    key: `k_${name}`,
    trajectory: 't_1',
    node: null,
    name,
    value,
    source: 'user',
    reporter: 'client',
    at: 1_800_000,
  })
const onRecord = { status: 'missing', value: null, parts: {}, reason: 'It was not scored yet.' } as const
const earned = (config: ServeConfig | null, trajectory: Trajectory, signals: readonly Signal[]) =>
  rewardOf(config, now)({ trajectory, reward: onRecord }, signals)

describe('what a session has earned by now', () => {
  it('is judged by the default rubric, and says that it can change', async () => {
    const up = await earned(null, episode(), [told('thumbs', true)])
    expect(up).toMatchObject({ reward: { status: 'scored', value: 1 }, asOf: now })
    expect(stripVTControlCharacters(rewardLine(up))).toBe('reward 1  (thumbs 1; as of now)')
    const down = await earned(null, episode(), [told('thumbs', false)])
    expect(down.reward.value).toBeLessThan(0)
    expect(shortReward(down)).toBe(`reward ${String(down.reward.value)}`)
  })

  it('is judged by the rubric of its own agent', async () => {
    const config = parseInput(
      ServeConfig,
      {
        agents: [
          { name: 'a', model: 'minimind2-small', learn: { rubric: { signals: { resolved: {} }, implicit: false } } },
        ],
      },
      'the configuration',
    )
    expect((await earned(config, episode('a'), [told('resolved', true)])).reward).toMatchObject({
      status: 'scored',
      value: 1,
    })
    expect((await earned(config, episode('b'), [told('resolved', true)])).reward.parts).not.toHaveProperty('resolved')
  })

  it('is the least where the answer was cut short, and says so', async () => {
    const cut = await earned(null, { ...episode(), stopReason: 'token-budget' }, [told('thumbs', true)])
    expect(stripVTControlCharacters(rewardLine(cut))).toMatch(/^reward -1, cut short \(token-budget\) {2}\(thumbs 1/)
  })

  it('is missing where nothing is known, and never 0', async () => {
    const none = await earned(null, episode(), [])
    expect(none.reward).toMatchObject({ status: 'missing', value: null })
    expect(stripVTControlCharacters(shortReward(none))).toBe('no reward yet')
  })
})

it('a rollout keeps what it earned', async () => {
  const reward = { status: 'scored', value: 0.5, parts: { solved: 0.5 } } as const
  const trajectory = episode(null, {})
  const rollout = { ...trajectory, origin: { kind: 'rollout' } as const }
  expect(await rewardOf(null, now)({ trajectory: rollout, reward }, [])).toEqual({
    reward,
    asOf: null,
    because: null,
  })
})
