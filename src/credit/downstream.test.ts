import { describe, expect, it } from 'vitest'
import { choice, even } from '../../test/support/choice-kind.ts'
import { scriptedModel, type Script } from '../../test/support/scripted-model.ts'
import { creditContext, scored } from '../../test/support/trajectories.ts'
import { wordEnvironment, wordTask } from '../../test/support/word-environment.ts'
import { type Agent, defineAgent, parameter, runEpisode, text, user, weights } from '../agent/index.ts'
import { type CreditEstimator, GroupId, Trajectory, TrajectoryId, upstreamOf, VersionId, rng } from '../core/index.ts'
import { downstream, leaveOneOut } from './index.ts'

/*
 * Programs of which it is known what their outcome came from. They run as any agent runs, and the graph records itself.
 * Of each, an estimator that follows the graph credits what caused the outcome, and nothing else; one that credits every
 * decision of the episode alike, as leave-one-out does, does not.
 */

const parameters = {
  model: weights({ base: 'scripted' }),
  critic: weights({ base: 'scripted' }),
  hint: text(''),
  judge: parameter(choice, even),
}
type Run = Agent<typeof parameters>['run']
const answer = (content: string) => ({ kind: 'message', content }) as const
const done = { stopReason: 'done', message: null } as const

async function play(run: Run, script: Script): Promise<Trajectory> {
  const model = scriptedModel(script)
  const trajectory = await runEpisode({
    id: TrajectoryId.parse('t0'),
    agent: defineAgent({ name: 'program', parameters, run }),
    environment: wordEnvironment,
    task: wordTask('t', 'plum'),
    group: GroupId.parse('g'),
    attempt: 0,
    seed: 1,
    bindings: {
      model: model.binding(),
      critic: model.binding(),
      hint: {
        kind: 'text',
        value: { text: 'Fruit only.' },
        rng: rng('hint'),
        inForce: { version: VersionId.parse('h1'), generation: 1, checkpoint: null },
      },
      judge: {
        kind: 'choice',
        value: even,
        rng: rng('judge'),
        inForce: { version: VersionId.parse('j1'), generation: 1, checkpoint: null },
      },
    },
    now: () => 0,
  })
  expect(Trajectory.parse(trajectory)).toEqual(trajectory)
  expect(trajectory).toMatchObject({ stopReason: 'done', failure: null })
  return trajectory
}

/** What the decisions say that an estimator credits, when the episode went better than another. */
async function credited(trajectory: Trajectory, estimator: CreditEstimator): Promise<readonly string[]> {
  const other = { ...trajectory, id: TrajectoryId.parse('t1') }
  const attempts = [
    { trajectory, reward: scored(1) },
    { trajectory: other, reward: scored(0) },
  ]
  const { credits } = await estimator.credit([{ id: trajectory.group, attempts }], creditContext)
  const own = credits.filter((credit) => credit.trajectory === 't0')
  expect(own.every(({ advantage }) => advantage === 1)).toBe(true)
  return own.map(({ decision }) => saidBy(trajectory, decision)).toSorted()
}

function saidBy({ decisions, nodes }: Trajectory, id: string): string {
  const decision = decisions.find((one) => one.id === id)
  return (
    nodes.find((node) => node.id === decision?.output)?.message.content ??
    `the ${decision?.kind} ${decision?.parameter}`
  )
}

/** Asserts that the graph credits these, and that a timeline does not. */
async function expectOnly(trajectory: Trajectory, causes: readonly string[]) {
  expect(await credited(trajectory, downstream({ outcome: leaveOneOut() }))).toEqual(causes.toSorted())
  expect(await credited(trajectory, leaveOneOut())).not.toEqual(causes.toSorted())
}

const wait = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds))
/** What is said where the prompt's last line holds a word. */
const saying =
  (says: Readonly<Record<string, string>>): Script =>
  async (prompt) => {
    const asked = prompt.slice(prompt.lastIndexOf('user:'))
    const [key, said] = Object.entries(says).find(([word]) => asked.includes(word)) ?? []
    await wait(key === 'south' ? 5 : 0)
    return [said ?? 'nothing']
  }

describe('parallel branches, of which one caused the outcome', () => {
  const says = saying({ north: 'an apple', south: 'a plum', west: 'a pear' })

  it('credits that one, where its words are the answer', async () => {
    const trajectory = await play(async (_, { model }, episode) => {
      const said = await Promise.all(['north', 'south', 'west'].map((where) => model.complete([user(where)])))
      await episode.step(answer(`It is ${said[1]}.`))
      return done
    }, says)
    await expectOnly(trajectory, ['a plum'])
  })

  it('and where another call read them, through awaits', async () => {
    const trajectory = await play(
      async (_, { model }, episode) => {
        const ask = async (where: string) => {
          await wait(1)
          const said = await model.complete([user(where)])
          return model.complete([user(`Repeat: ${said}`)])
        }
        const [, south] = await Promise.all([ask('north'), ask('south')])
        await episode.step(answer(south ?? ''))
        return done
      },
      saying({ 'Repeat: an apple': 'apple', 'Repeat: a plum': 'plum', north: 'an apple', south: 'a plum' }),
    )
    await expectOnly(trajectory, ['a plum', 'plum'])
  })

  it('credits those who voted for what won', async () => {
    const votes = ['plum', 'pear', 'plum']
    let at = 0
    const trajectory = await play(
      async (_, { model }, episode) => {
        const said = await Promise.all(votes.map(() => model.complete([user('Which?')])))
        const [winner = ''] = said.toSorted((a, b) => votesFor(said, b) - votesFor(said, a))
        await episode.step(answer(winner))
        return done
      },
      () => [votes[at++] ?? ''],
    )
    await expectOnly(trajectory, ['plum', 'plum'])
  })

  const votesFor = (all: readonly string[], one: string) => all.filter((other) => other === one).length
})

it('a diamond: both sides made what was done, and what made both counts once', async () => {
  const trajectory = await play(
    async (_, { model }, episode) => {
      const plan = await model.complete([user('plan')])
      const sides = await Promise.all(plan.split('\n').map((part) => model.complete([user(`Do: ${part}`)])))
      await model.complete([user('aside')])
      await episode.step(answer(await model.complete([user(`Join ${sides.join(' and ')}`)])))
      return done
    },
    saying({
      plan: '- peel it\n- stone it',
      'Do: - peel': 'peeled',
      'Do: - stone': 'stoned',
      aside: 'idle',
      Join: 'jam',
    }),
  )
  await expectOnly(trajectory, ['- peel it\n- stone it', 'peeled', 'stoned', 'jam'])
})

it('a retry: the first try failed and was thrown away', async () => {
  let tries = 0
  const trajectory = await play(
    async (task, { model }, episode) => {
      for (;;) {
        const said = await model.complete([user(task.instruction)])
        if (said.startsWith('sorry')) continue
        await episode.step(answer(said))
        return done
      }
    },
    () => [tries++ === 0 ? 'sorry, no idea' : 'a plum'],
  )
  await expectOnly(trajectory, ['a plum'])
})

describe('a sub-agent', () => {
  const review = async (
    critic: { complete: (messages: ReturnType<typeof user>[]) => Promise<string> },
    draft: string,
  ) => critic.complete([user(`Review ${draft}`)])
  const says = saying({ 'Review a plum': 'say it shorter', Rewrite: 'plum', Chat: 'nice weather', draft: 'a plum' })

  it('whose advice was taken', async () => {
    const trajectory = await play(async (_, { model, critic }, episode) => {
      const draft = await model.complete([user('draft')])
      const [advice] = await Promise.all([review(critic, draft), critic.complete([user('Chat')])])
      await episode.step(answer(await model.complete([user(`Rewrite, but ${advice}`)])))
      return done
    }, says)
    await expectOnly(trajectory, ['a plum', 'say it shorter', 'plum'])
  })

  it('whose advice was not', async () => {
    const trajectory = await play(async (_, { model, critic }, episode) => {
      const draft = await model.complete([user('draft')])
      await review(critic, draft)
      await episode.step(answer(draft))
      return done
    }, says)
    await expectOnly(trajectory, ['a plum'])
  })

  it('whose verdict the program decided by, where it says so', async () => {
    const trajectory = await play(
      async (_, { model, critic }, episode) => {
        const draft = await model.complete([user('draft')])
        const verdict = await review(critic, draft)
        const how = verdict.length > 5 ? 'short' : 'long'
        await episode.step(answer(await model.complete([user(`Rewrite ${how}`)], { from: [verdict] })))
        await critic.complete([user('Chat')])
        return done
      },
      saying({ 'Review a plum': 'say it in brief', Rewrite: 'plum', Chat: 'nice weather', draft: 'a plum' }),
    )
    await expectOnly(trajectory, ['a plum', 'say it in brief', 'plum'])
  })
})

it('a text that was read as a string shaped every call that came after', async () => {
  const trajectory = await play(
    async (_, { model, hint }, episode) => {
      const before = await model.complete([user('north')])
      const hinted = await model.complete([user(`south (${hint.value.toUpperCase()})`)])
      await episode.step(answer(hinted))
      expect(before).toBe('an apple')
      return done
    },
    saying({ north: 'an apple', south: 'a plum' }),
  )
  await expectOnly(trajectory, ['a plum', 'the text hint'])
})

describe('a choice', () => {
  const says = saying({ north: 'an apple', south: 'a plum' })

  it('of which answer to act on is credited with that answer', async () => {
    let picked = ''
    const trajectory = await play(async (_, { model, judge }, episode) => {
      const said = await Promise.all(['north', 'south'].map((where) => model.complete([user(where)])))
      picked = said[judge.choose() === 'sales' ? 0 : 1] ?? ''
      await episode.step(answer(picked))
      return done
    }, says)
    await expectOnly(trajectory, [picked, 'the choice judge'])
  })

  it('of what to give back is, though nothing was done after it', async () => {
    let picked: string | undefined
    const trajectory = await play(async (_, { model, judge }) => {
      const said = await Promise.all(['north', 'south'].map((where) => model.converse([user(where)]).reply()))
      const message = said[judge.choose() === 'sales' ? 0 : 1] ?? null
      picked = message?.content
      return { stopReason: 'done', message }
    }, says)
    await expectOnly(trajectory, [picked ?? '', 'the choice judge'])
  })

  it('and each one before it', async () => {
    const trajectory = await play(async (_, { model, hint, judge }, episode) => {
      judge.choose()
      await model.complete([user('north')])
      expect(hint.value.length).toBeGreaterThan(0)
      judge.choose()
      await episode.step(answer(await model.complete([user('south')])))
      return done
    }, says)
    expect(trajectory.decisions.map(({ inputs }) => inputs.filter((input) => typeof input !== 'string'))).toEqual([
      [],
      [{ decision: 'd0' }],
      [{ decision: 'd0' }],
      [{ decision: 'd2' }],
      [{ decision: 'd3' }],
    ])
    await expectOnly(trajectory, ['a plum', 'the choice judge', 'the choice judge', 'the text hint'])
  })
})

describe('where it is not known what the outcome was built from, all counts', () => {
  const both = ['a plum', 'an apple']
  const says = saying({ north: 'an apple', south: 'a plum' })
  const ask = (model: { complete: (messages: ReturnType<typeof user>[]) => Promise<string> }) =>
    Promise.all(['north', 'south'].map((where) => model.complete([user(where)])))

  it.each<[string, Run]>([
    [
      'the program did something that cannot be traced',
      async (_, { model }, episode) => {
        const [north = ''] = await ask(model)
        await episode.step(answer(String(north.length)))
        return done
      },
    ],
    [
      'the program did nothing',
      async (_, { model }) => {
        await ask(model)
        return done
      },
    ],
  ])('%s', async (_, run) => {
    const trajectory = await play(run, says)
    expect(trajectory.outcome).toBeUndefined()
    expect(await credited(trajectory, downstream({ outcome: leaveOneOut() }))).toEqual(both)
  })

  it('an older record', async () => {
    const { outcome, ...older } = await play(async (_, { model }, episode) => {
      const [north = ''] = await ask(model)
      await episode.step(answer(north))
      return done
    }, says)
    expect(upstreamOf(outcome?.inputs ?? [], older).size).toBe(1)
    expect(await credited(older, downstream({ outcome: leaveOneOut() }))).toEqual(both)
  })
})

it('counts what it leaves out, and keeps what the outcome’s estimator counts', async () => {
  const trajectory = await play(
    async (_, { model }, episode) => {
      await model.complete([user('north')])
      await episode.step(answer(await model.complete([user('south')])))
      return done
    },
    saying({ north: 'an apple', south: 'a plum' }),
  )
  const attempts = [0, 1, 1].map((value, i) => ({
    trajectory: { ...trajectory, id: TrajectoryId.parse(`t${i}`) },
    reward: scored(value),
  }))
  const estimator = downstream({ outcome: leaveOneOut() })
  const { counts } = await estimator.credit([{ id: trajectory.group, attempts }], creditContext)
  expect(estimator.name).toBe('downstream(leave-one-out)')
  expect(counts).toEqual({ missing: 0, uniformGroups: 0, singletonGroups: 0, vetoed: 0, unused: 3 })
})
