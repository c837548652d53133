import {
  GroupId,
  type Message,
  NodeId,
  type Reward,
  type Rng,
  type RunId,
  type Task,
  TaskId,
  type Trajectory,
} from '../../src/core/index.ts'
import { type Arm, episodeId, lookName } from '../../src/learn/index.ts'
import { at, tierName, tiers, UPDATES } from './shape.ts'

const features = [
  'aspect-ratio',
  'Element.checkVisibility',
  'text-wrap',
  'Array.fromAsync',
  'dialog.closedby',
  ':has()',
]

export interface FixtureTask extends Task<'holdout'> {
  readonly feature: string
  readonly version: string
}

export function tasksOf(count: number, hostile: string | undefined): readonly FixtureTask[] {
  return tiers.flatMap((tier, t) =>
    Array.from({ length: count }, (_, i) => {
      const feature = `${features[i % features.length]}${i >= features.length ? `.${i}` : ''}`
      const instruction = `From which version does Firefox support ${feature}?${hostile === undefined ? '' : ` ${hostile}`}`
      const id = TaskId.parse(`since/firefox/${t}-${i}`)
      return {
        id,
        instruction,
        data: null,
        split: 'holdout' as const,
        tier,
        feature,
        version: String(60 + ((i * 7) % 70)),
      }
    }),
  )
}

type Ending = 'solved' | 'wrong' | 'broken' | 'missing' | 'rambles'

export function attempt(random: Rng, arm: Arm, { tier }: FixtureTask, skill: number): Ending {
  const chance = tier === 'composed' ? skill * 0.3 : skill
  if (random.next() < chance) return 'solved'
  if (arm === 'base') return 'rambles'
  return random.next() < 0.01 ? 'missing' : random.next() < (arm === 'learned' ? 0.04 : 0.4) ? 'broken' : 'wrong'
}

export function episode(run: RunId, arm: Arm, task: FixtureTask, ending: Ending, hostile: string | undefined) {
  const { feature, version } = task
  const near = [`${feature}.polyfill`, feature, `${feature}-legacy`]
  const document = [
    'chrome 112',
    'edge 112',
    `firefox ${version}`,
    'safari 16.4',
    ...(hostile === undefined ? [] : [hostile]),
  ]
  const calls = (name: string, value: string): Message => ({
    role: 'assistant',
    content: '',
    toolCalls: [{ name, arguments: { [{ search: 'query', open: 'title' }[name] ?? 'text']: value } }],
  })
  const shows = (name: string, content: string): Message => ({ role: 'tool', name, content })
  const opening: Message[] = [{ role: 'user', content: task.instruction }]
  const looked = [calls('search', feature), shows('search', near.join('\n'))]
  const wrongVersion = String(Number(version) + 3)
  const said: Record<Ending, Message[]> = {
    solved: [
      ...looked,
      calls('open', feature),
      shows('open', document.join('\n')),
      calls('answer', `firefox ${version}`),
    ],
    wrong: [
      ...looked,
      calls('open', `${feature}-legacy`),
      shows('open', `chrome 88\nfirefox ${wrongVersion}\nsafari never`),
      calls('answer', `firefox ${wrongVersion}`),
    ],
    broken: [
      ...looked,
      {
        role: 'assistant',
        content: hostile ?? '',
        malformedCalls: [{ text: hostile ?? `> opne ${feature}`, problem: 'No tool is called "opne".' }],
      },
    ],
    missing: looked,
    rambles: [
      {
        role: 'assistant',
        content:
          hostile ??
          `Firefox is a popular web browser. ${feature} is a feature that lets developers create web pages that adapt to screens, and it was introduced in the early versions of the`,
      },
    ],
  }
  const messages = [...opening, ...said[ending]]
  const answer = ending === 'solved' ? `firefox ${version}` : ending === 'wrong' ? `firefox ${wrongVersion}` : null
  const trajectory: Trajectory = {
    id: episodeId(run, lookName('holdout', arm, UPDATES), task.id, 0),
    origin: { kind: 'rollout' },
    toolsets: {},
    task: { id: task.id, instruction: task.instruction, split: 'holdout', tier: tierName(task.tier ?? 'all', hostile) },
    group: GroupId.parse(`${arm}/${task.id}`),
    attempt: 0,
    seed: 1,
    nodes: messages.map((message, i) => ({
      id: NodeId.parse(`n${i}`),
      parent: i === 0 ? null : NodeId.parse(`n${i - 1}`),
      message,
      spans: message.role === 'assistant' ? [sampled(9)] : [],
    })),
    steps: [],
    decisions: [],
    stopReason: (
      {
        solved: 'done',
        wrong: 'done',
        broken: 'malformed-call',
        missing: 'environment-error',
        rambles: 'done',
      } as const
    )[ending],
    failure: ending === 'missing' ? { code: 'environment/failed', message: hostile ?? 'the corpus went away' } : null,
    finalState: { state: { task: task.id, answer, accepted: [`firefox ${version}`, version] }, counts: { search: 1 } },
    startedAt: at,
    seconds: 0.4,
  }
  return { trajectory, reward: rewardOf(ending, hostile) }
}

const sampled = (n: number) => ({
  kind: 'sampled' as const,
  tokens: Array.from({ length: n }, (_, i) => i),
  behaviourLogprobs: Array.from({ length: n }, () => -0.1),
  logprobs: Array.from({ length: n }, () => -0.1),
  sampling: { temperature: 0, truncated: false },
})

function rewardOf(ending: Ending, hostile: string | undefined): Reward {
  switch (ending) {
    case 'solved':
    case 'wrong':
      return { status: 'scored', value: ending === 'solved' ? 1 : 0, parts: { solved: ending === 'solved' ? 1 : 0 } }
    case 'broken':
      return {
        status: 'vetoed',
        value: 0,
        parts: { solved: 0 },
        guard: 'broken-calls',
        reason: hostile ?? '1 calls could not be read, the first: No tool is called "opne".',
      }
    case 'rambles':
      return {
        status: 'vetoed',
        value: 0,
        parts: { solved: 0 },
        guard: 'no-answer',
        reason: 'the episode ended (done) without an answer',
      }
    case 'missing':
      return { status: 'missing', value: null, parts: {}, reason: 'the corpus went away' }
  }
}
