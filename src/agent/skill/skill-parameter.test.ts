import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { learnedSkill } from '../../../test/support/skills.ts'
import {
  type Audience,
  type Environment,
  type Episode,
  GroupId,
  rng,
  subjectMark,
  Task,
  TrajectoryId,
  VersionId,
} from '../../core/index.ts'
import { defineAgent } from '../agent.ts'
import { EpisodeStopped } from '../errors.ts'
import { runEpisode } from '../run-episode.ts'
import type { LiveEpisode } from '../live-episode.ts'
import type { SkillMade } from './made.ts'
import type { NegativeRule } from './rule.ts'
import type { Skill } from './skill.ts'
import { skills, type SkillsOptions } from './skill-kind.ts'
import { SkillsValue } from './value.ts'

const toolNamed = (name: string) => ({ name, description: '', parameters: {} })

/** Fetches and opens orders; what it is asked is kept. */
function environmentOf(asked: string[], change: Partial<Episode> = {}): Environment {
  return {
    name: 'orders',
    open: () => ({
      opening: [],
      tools: [toolNamed('fetch'), toolNamed('open')],
      step(action) {
        if (action.kind === 'message') return { messages: [], done: true }
        asked.push(...action.calls.map(({ name, arguments: given }) => `${name} ${JSON.stringify(given)}`))
        const messages = action.calls.map(({ name, arguments: given }) => {
          if (given['order'] === 'none') return { role: 'tool' as const, name, content: 'no such order', isError: true }
          return {
            role: 'tool' as const,
            name,
            content: name === 'fetch' ? `at ${z.string().parse(given['order'])}` : 'opened',
          }
        })
        return { messages, done: false, reward: 0.5 }
      },
      close: () => ({ state: null, counts: {} }),
      ...change,
    }),
  }
}

interface Given {
  readonly skills?: readonly Skill[]
  readonly change?: Partial<SkillsValue>
  readonly options?: SkillsOptions
  readonly audience?: Audience
  readonly seed?: number
  readonly environment?: Environment
}

const nobody: Audience = { tenant: 'default', subject: null, at: 1_000 }

/** Runs a program in an equipped episode, and tells what was recorded of skills. */
async function lived(
  program: (episode: LiveEpisode) => Promise<unknown>,
  given: Given = {},
  ask = 'Open the order B2.',
) {
  const { options = {}, change = {}, audience = nobody, seed = 0, environment = environmentOf([]) } = given
  const definition = skills({ explore: 0, ...options })
  const value = SkillsValue.parse({
    ...(definition.initial(() => '') as object),
    skills: given.skills ?? [],
    ...change,
  })
  const agent = defineAgent({
    name: 'clerk',
    parameters: { tools: definition },
    async run(task, { tools }, episode) {
      await program(await tools.equip(episode, task.instruction))
      return { stopReason: 'done', message: null }
    },
  })
  const trajectory = await runEpisode({
    id: TrajectoryId.parse('t'),
    agent,
    environment,
    task: Task.parse({ id: 'task', instruction: ask, data: {}, split: 'train' }),
    group: GroupId.parse('g'),
    attempt: 0,
    seed,
    bindings: {
      tools: {
        kind: 'skill',
        inForce: { version: VersionId.parse('0'.repeat(64)), generation: 1, checkpoint: null },
        value,
        rng: rng('test', seed),
        audience,
      },
    },
    now: () => 0,
  })
  return { trajectory, made: trajectory.decisions.map(({ made }) => made as SkillMade) }
}

const call = (name: string, given: Record<string, string> = {}) =>
  ({ kind: 'calls', calls: [{ id: 'c1', name, arguments: given }] }) as const
const namesOf = ({ tools }: LiveEpisode) => tools.map(({ name }) => name)

describe('a call of a skill', () => {
  it('makes its calls in the environment, and gives what the code gives; all of it is recorded', async () => {
    const asked: string[] = []
    let outcome: unknown
    const { made, trajectory } = await lived(
      async (episode) => {
        expect(namesOf(episode)).toEqual(['fetch', 'open', 'fetch_open'])
        outcome = await episode.step(call('fetch_open', { order: 'B2' }))
      },
      { skills: [learnedSkill()], environment: environmentOf(asked) },
    )
    expect(asked).toEqual(['fetch {"order":"B2"}', 'open {"at":"at B2"}'])
    expect(outcome).toEqual({
      messages: [{ role: 'tool', name: 'fetch_open', toolCallId: 'c1', content: 'opened' }],
      done: false,
      reward: 1,
    })
    const { id } = learnedSkill()
    expect(made).toMatchObject([
      { did: 'offer', query: 'Open the order B2.', skills: [{ id, barred: false, offered: true }] },
      { did: 'call', id, run: 0, calls: 2, error: null },
      {
        did: 'saw',
        calls: [
          { name: 'fetch', arguments: { order: 'B2' }, content: 'at B2', run: 0 },
          { name: 'open', content: 'opened', run: 0 },
        ],
      },
    ])
    expect(trajectory).toMatchObject({ stopReason: 'done', failure: null })
  })

  it('gets what was asked, and stands beside other calls of one step', async () => {
    const skill = learnedSkill({
      source: "function run(input, call, task) { return task + call('open') }",
      parameters: {},
    })
    await lived(
      async (episode) => {
        const calls = [call('fetch', { order: 'X' }), call('fetch_open')].flatMap((one) => one.calls)
        const { messages } = await episode.step({ kind: 'calls', calls })
        expect(messages.map(({ content }) => content)).toEqual(['at X', 'Open the order B2.opened'])
      },
      { skills: [skill] },
    )
  })

  const sources = {
    'catches what a tool says':
      "function run(i, call) { try { call('fetch', { order: 'none' }) } catch (e) { return e.message } }",
    'lets it pass': "function run(i, call) { call('open'); call('fetch', { order: 'none' }) }",
    loops: 'function run() { for (;;) {} }',
    'reads the disk': "function run() { return require('node:fs').readFileSync('/etc/passwd') }",
    'imports the disk': "import fs from 'node:fs'; function run() { return fs }",
    'asks for the time': 'function run() { return Date.now() }',
    'throws dice': 'function run() { return Math.random() }',
    'fills its memory': 'function run() { return new ArrayBuffer(2 ** 30) }',
    'calls what it does not say': "function run(i, call) { return call('wire_money') }",
    'calls without end': "function run(i, call) { for (;;) call('open') }",
    'is no code': 'function run( {',
  }
  it.each([
    ['catches what a tool says', /^no such order$/, null],
    ['lets it pass', /stopped: no such order.*It had called:\nopen: opened/s, 'skill/threw'],
    ['loops', /still running after .* steps.*Give its loops an end/s, 'skill/loops'],
    ['reads the disk', /"require".*no disk.*as a parameter, or get it by a tool/s, 'skill/reaches-outside'],
    ['imports the disk', /"import"/, 'skill/reaches-outside'],
    ['asks for the time', /"Date"/, 'skill/reaches-outside'],
    ['throws dice', /"Math.random"/, 'skill/reaches-outside'],
    ['fills its memory', /more memory/, 'skill/too-much-memory'],
    ['calls what it does not say', /"wire_money".*`uses`/s, 'skill/undeclared-tool'],
    ['calls without end', /made 4 calls/, 'skill/too-many-calls'],
    ['is no code', /stopped/, 'skill/threw'],
  ] as const)('of code that %s answers with what to do, and ends no episode', async (which, says, error) => {
    const skill = learnedSkill({ source: sources[which], parameters: {} })
    const { made, trajectory } = await lived(
      async (episode) => {
        const { messages } = await episode.step(call('fetch_open'))
        expect(messages).toMatchObject([{ name: 'fetch_open', content: expect.stringMatching(says) as string }])
        expect('isError' in (messages[0] ?? {})).toBe(error !== null)
      },
      { skills: [skill], options: { calls: 4, steps: 100_000 } },
    )
    expect(made).toContainEqual(expect.objectContaining({ did: 'call', error }))
    expect(trajectory.failure).toBeNull()
  })

  it.each([
    [{}, /"order" is missing/],
    [{ order: 7 }, /"order" is no string/],
  ])('with %j is told what it takes, and runs nothing', async (given, says) => {
    const asked: string[] = []
    await lived(
      async (episode) => {
        const calls = [{ name: 'fetch_open', arguments: given }]
        expect((await episode.step({ kind: 'calls', calls })).messages[0]?.content).toMatch(says)
      },
      { skills: [learnedSkill()], environment: environmentOf(asked) },
    )
    expect(asked).toEqual([])
  })

  it('ends the episode where the environment fails: that is no result of a tool', async () => {
    const step = () => Promise.reject(new Error('the shop is down'))
    const { trajectory } = await lived(
      async (episode) => {
        await expect(episode.step(call('fetch_open', { order: 'B2' }))).rejects.toBeInstanceOf(EpisodeStopped)
        throw new EpisodeStopped('environment-error', new Error('the shop is down'))
      },
      { skills: [learnedSkill()], environment: environmentOf([], { step }) },
    )
    expect(trajectory.stopReason).toBe('environment-error')
  })

  it('calls nothing more once the episode is over', async () => {
    const asked: string[] = []
    const step: Episode['step'] = () => {
      asked.push('step')
      return { messages: [{ role: 'tool', name: 'fetch', content: 'the end' }], done: true }
    }
    await lived(
      async (episode) => {
        const { messages, done } = await episode.step(call('fetch_open', { order: 'B2' }))
        expect(done).toBe(true)
        expect(messages[0]?.content).toMatch(/The episode is over/)
      },
      { skills: [learnedSkill()], environment: environmentOf([], { step }) },
    )
    expect(asked).toEqual(['step'])
  })
})

describe('what is offered', () => {
  const offered = async (given: Given, ask?: string) => {
    let names: readonly string[] = []
    const { made } = await lived(async (episode) => (names = namesOf(episode).slice(2)), given, ask)
    return { names, made }
  }

  it.each([
    ['is near the task', {}, {}, 1],
    ['is about something else', { cues: ['Water the plants'], description: 'Waters plants.' }, {}, 0],
    ['uses a tool that is not here', { uses: ['fetch', 'pay'] }, {}, 0],
    ['has the name of a tool that is here', { name: 'open' }, {}, 0],
    ['is bound to another model', { model: 'older' }, { options: { model: 'newer' } }, 0],
    ['is bound to this model', { model: 'newer' }, { options: { model: 'newer' } }, 1],
    ['is another tenant’s', { owner: { tenant: 'acme', about: null } }, {}, 0],
    ['people wrote for every task', { madeBy: 'people', cues: [], description: 'x' }, {}, 1],
  ] as const)('a skill that %s', async (_, change, given, count) => {
    const { uses, cues, ...rest } = { uses: ['fetch'], cues: ['Open the order A1.'], ...change }
    const skill = learnedSkill({ ...rest, uses: [...uses], cues: [...cues] })
    expect((await offered({ skills: [skill], ...given })).names).toHaveLength(count)
  })

  it('another person’s never, however near', async () => {
    const person = fc.constantFrom('ada', 'bob')
    const tenant = fc.constantFrom('acme', 'other')
    await fc.assert(
      fc.asyncProperty(tenant, fc.option(person), tenant, fc.option(person), async (of, about, to, subject) => {
        const owner = { tenant: of, about: about === null ? null : subjectMark(of, about) }
        const visible = of === to && (about === null || about === subject)
        const { names } = await offered({ skills: [learnedSkill({ owner })], audience: { tenant: to, subject, at: 1 } })
        expect(names).toHaveLength(visible ? 1 : 0)
      }),
      { numRuns: 30 },
    )
  })

  it('the few that fit best, by nearness and by what they brought', async () => {
    const [one, two, three] = ['a', 'b', 'c'].map((name) => learnedSkill({ name, description: `Opens ${name}.` })) as [
      Skill,
      Skill,
      Skill,
    ]
    const many = [one, two, three].map((skill, i) => ({ ...skill, id: `${i}`.repeat(16) }))
    const seen = (mean: number) => ({ count: 40, mean, squares: 1 })
    const counts = {
      ['2'.repeat(16)]: { offered: seen(0.9), leftOut: seen(-0.5), called: seen(0.9), helped: 20 },
    }
    const { names } = await offered({ skills: many, change: { offer: 2, counts } })
    expect(names).toEqual(['c', 'a'])
  })

  const peoples = (change: Partial<Skill> = {}) =>
    learnedSkill({ madeBy: 'people', source: "function run() { return 'by people' }", ...change })
  const inTenant = learnedSkill({ owner: { tenant: 'default', about: null } })
  const brought = { count: 40, mean: 1, squares: 0 }
  const praised = { offered: brought, leftOut: { ...brought, mean: -1 }, called: brought, helped: 40 }

  it('what people made in place of what was learned under its name, however much that brought', async () => {
    const [theirs, learned] = [peoples(), inTenant]
    const { made } = await offered({ skills: [learned, theirs], change: { counts: { [learned.id]: praised } } })
    expect(made[0]).toMatchObject({ skills: [{ id: theirs.id, offered: true }] })
    expect(made[0]).toHaveProperty('skills.length', 1)
  })

  it('nothing learned in place of what people made for other tasks under its name', async () => {
    const theirs = peoples({ cues: ['Water the plants'], description: 'Waters plants.' })
    expect((await offered({ skills: [inTenant, theirs] })).names).toEqual([])
  })

  it('what people made first, and it takes no place of theirs', async () => {
    const [theirs, learned] = [peoples({ name: 'theirs' }), learnedSkill({ name: 'learned' })]
    const given = { skills: [learned, theirs], change: { counts: { [learned.id]: praised } } }
    expect((await offered(given)).names).toEqual(['theirs', 'learned'])
    expect((await offered({ ...given, change: { ...given.change, offer: 1 } })).names).toEqual(['theirs'])
  })

  it('leaves skills out with the chances that it says: all of them, or one', async () => {
    const seen = { bare: 0, one: 0 }
    for (let seed = 0; seed < 300; seed++) {
      const { trajectory, made } = await lived(async () => {}, {
        skills: [learnedSkill()],
        change: { explore: 0.25 },
        seed,
      })
      const first = made[0]?.did === 'offer' ? made[0] : expect.fail('no offer')
      const offered = first.skills[0]?.offered
      seen.bare += Number(first.bare)
      seen.one += Number(!first.bare && !offered)
      const chance = first.bare ? 0.25 : 0.75 * (offered ? 0.875 : 0.125)
      expect(trajectory.decisions[0]?.propensity).toEqual({ log: expect.closeTo(Math.log(chance)) })
    }
    // Binomial(300, 1/4) and Binomial(300, 0.09) are within these but once in 10,000.
    expect(seen.bare).toBeGreaterThan(46)
    expect(seen.bare).toBeLessThan(106)
    expect(seen.one).toBeGreaterThan(10)
    expect(seen.one).toBeLessThan(50)
  })

  const rule = (change: Partial<NegativeRule> = {}): NegativeRule => ({
    skill: learnedSkill().id,
    name: 'fetch_open',
    scope: null,
    because: 'harm',
    falsifier: { trials: 4, atLeast: 0 },
    seen: { count: 0, mean: 0, squares: 0 },
    from: 0,
    expires: 2_000,
    derivedFrom: [],
    ...change,
  })
  it.each([
    ['everywhere', {}, 0],
    ['for tasks like this one', { scope: { like: ['Open the order B2.'], unlike: ['Water the plants.'] } }, 0],
    ['for other tasks', { scope: { like: ['Water the plants.'], unlike: ['Open the order B2.'] } }, 1],
    ['until it has expired', { expires: 1_000 }, 1],
    ['of another skill', { skill: 'other' }, 1],
  ])('not what a rule bars %s', async (_, change, count) => {
    expect((await offered({ skills: [learnedSkill()], change: { rules: [rule(change)] } })).names).toHaveLength(count)
  })

  it('what a rule bars, now and then, as a trial, where that is wanted', async () => {
    const trials = await Promise.all(
      Array.from({ length: 40 }, (_, seed) =>
        offered({ skills: [learnedSkill()], change: { rules: [rule()], retry: 0.5 }, seed }),
      ),
    )
    const count = trials.filter(({ names }) => names.length === 1).length
    expect(count).toBeGreaterThan(5)
    expect(count).toBeLessThan(35)
    expect(trials[0]?.made[0]).toMatchObject({ skills: [{ barred: true }] })
    const worse = learnedSkill({ name: 'worse', cues: ['Open it.'], source: 'function run() {}' })
    const made = (await offered({ skills: [worse, learnedSkill()], change: { rules: [rule()], retry: 0.5 } })).made[0]
    expect(made, 'a trial at the end would not be called').toMatchObject({
      skills: [{ barred: true }, { barred: false }],
    })
  })
})

it('forks are equipped, too, and are told apart', async () => {
  const inner = environmentOf([]).open(Task.parse({ id: 'x', instruction: 'x', data: {}, split: 'train' }), 0)
  const fork = () => inner as Awaited<typeof inner>
  const { made } = await lived(
    async (episode) => {
      await episode.fork?.().step(call('fetch_open', { order: 'F' }))
    },
    { skills: [learnedSkill()], environment: environmentOf([], { fork }) },
  )
  expect(made.at(-1)).toMatchObject({ did: 'saw', fork: 1 })
})

it.each([
  ['offer', { offer: 0 }],
  ['explore', { explore: 0.9 }],
  ['a name', { skills: [{ name: 'no name', description: 'x', source: 'x' }] }],
  ['a source', { skills: [{ name: 'x', description: 'x', source: 'x'.repeat(20_000) }] }],
  ['one name twice', { skills: ['a', 'b'].map((source) => ({ name: 'x', description: 'x', source })) }],
])('refuses %s that cannot be', (_, options) => {
  expect(() => skills(options)).toThrow(expect.objectContaining({ code: 'skill/bad-options' }))
})
