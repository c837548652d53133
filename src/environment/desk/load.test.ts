import { describe, expect, it } from 'vitest'
import { Split, Task } from '../../core/index.ts'
import { call, type Policy, play, scorePolicy } from '../play.ts'
import { deskBySight, type DeskSight, deskConstant, deskFirstLook, deskNull, deskRandom } from './baselines.ts'
import { DeskAct } from './books.ts'
import { deskExpert, findOrder } from './expert.ts'
import { loadDesk } from './load.ts'
import { actBy, DeskRule, RequestKind } from './rules.ts'
import { readDeskTask } from './task-data.ts'
import { deskVerify } from './verify.ts'
import { heldOutWordings, seenWordings } from './wordings.ts'

const { environment, tasks } = loadDesk()
const all: readonly Task[] = Split.options.flatMap((split): readonly Task[] => tasks[split])
const strata = [
  { stratum: 'train', those: tasks.train },
  { stratum: 'validation', those: tasks.validation },
  { stratum: 'holdout', those: tasks.holdout.filter(({ tier }) => tier === 'desk') },
  { stratum: 'reworded', those: tasks.holdout.filter(({ tier }) => tier === 'desk reworded') },
]

/** Share of the tasks that a policy does. */
async function share(policy: Policy, those: readonly Task[]): Promise<number> {
  const { n, successes } = await scorePolicy(environment, policy, those, deskVerify)
  return successes / n
}

/** Every name that a task's world holds: order ids, items, customers. */
function namesIn(task: Task): readonly string[] {
  const { orders, items } = readDeskTask(task).books
  return [...Object.keys(orders), ...Object.keys(items), ...Object.values(orders).map(({ customer }) => customer)]
}

describe('the tasks', () => {
  it('are as many as asked for, well-formed and distinct', () => {
    expect(strata.map(({ those }) => those.length)).toEqual([1024, 200, 400, 200])
    expect(new Set(all.map((task) => Task.parse(task).id)).size).toBe(1824)
  })

  it('share no order, item or customer between splits, but the words of items and customers', () => {
    const [train, validation, holdout] = Split.options.map((split) => new Set(tasks[split].flatMap(namesIn)))
    expect([...train!].filter((name) => validation!.has(name) || holdout!.has(name))).toEqual([])
    expect([...validation!].filter((name) => holdout!.has(name))).toEqual([])
    expect(Math.min(train!.size, validation!.size, holdout!.size)).toBeGreaterThan(200)

    const words = new Set([...train!].flatMap((name) => name.split(' ')))
    const unseen = [...holdout!].filter((name) => name.includes(' ')).flatMap((name) => name.split(' '))
    expect(unseen.filter((word) => !words.has(word))).toEqual([])
  })

  it('say what they name verbatim, each after a space', () => {
    for (const task of all)
      for (const name of Object.values(readDeskTask(task).request.names)) expect(task.instruction).toContain(` ${name}`)
  })

  it('are worded in several ways of each kind, those of `reworded` in others', () => {
    for (const kind of RequestKind.options) {
      const ways = ({ byOrder, byCustomer }: (typeof seenWordings)[RequestKind]) => [
        ...byOrder.map((say) => say('417')),
        ...byCustomer.map((say) => say('Ann Hill', 'tin lamp')),
      ]
      const [seen, heldOut] = [new Set(ways(seenWordings[kind])), new Set(ways(heldOutWordings[kind]))]
      expect(seen.size).toBeGreaterThanOrEqual(8)
      expect(heldOut.size).toBeGreaterThanOrEqual(3)
      expect([...heldOut].filter((wording) => seen.has(wording))).toEqual([])
    }
  })

  it('are of families that tell the message and not the rule', () => {
    const families = new Map<string, { rules: Set<string>; forms: Set<string> }>()
    for (const task of all) {
      const { request, rule } = readDeskTask(task)
      const family = families.get(task.family!) ?? { rules: new Set(), forms: new Set() }
      families.set(task.family!, family)
      family.rules.add(rule)
      family.forms.add(Object.values(request.names).reduce((text, name) => text.replace(name, '…'), task.instruction))
    }
    expect(families.size).toBe(39)
    for (const { rules, forms } of families.values()) {
      expect(forms.size).toBe(1)
      expect(rules.size).toBeGreaterThan(1)
    }
  })

  it('depend on the seed and on nothing else', () => {
    const few = { train: 60, validation: 30, holdout: 30, reworded: 30 }
    const first = loadDesk({ seed: 1, tasks: few }).tasks
    expect(loadDesk({ seed: 1, tasks: few }).tasks).toEqual(first)
    expect(loadDesk({ seed: 2, tasks: few }).tasks).not.toEqual(first)
  })
})

describe.each(strata)('who plays $stratum', ({ those }) => {
  it('by every rule does all of it, in four or five steps', async () => {
    const rules = new Set<string>()
    for (const task of those) {
      const { success, actions } = await play(environment, deskExpert, task, deskVerify)
      expect(success, task.instruction).toBe(true)
      expect([4, 5]).toContain(actions.length)
      rules.add(readDeskTask(task).rule)
    }
    expect([...rules].toSorted()).toEqual(DeskRule.options.toSorted())
  })

  it('by ending at once does nothing, by one act at most 0.3, by any act no more', async () => {
    expect(await share(deskNull, those)).toBe(0)
    for (const act of DeskAct.options) {
      const done = await share(deskConstant(act), those)
      expect(done).toBeGreaterThan(0.1)
      expect(done).toBeLessThanOrEqual(0.3)
    }
    expect(await share(deskRandom(0), those)).toBeLessThan(0.3)
  })

  it('by the first look alone, or the second, does at most 0.6', async () => {
    const secondLook: DeskSight = (kind, _order, { value, stock }) =>
      `${kind} ${kind === 'unwanted' ? value : stock === 'none'}`
    expect(await share(deskFirstLook(tasks.train), those)).toBeLessThanOrEqual(0.6)
    expect(await share(deskBySight(tasks.train, secondLook), those)).toBeLessThanOrEqual(0.6)
    expect(
      await share(
        deskBySight(tasks.train, (kind) => kind),
        those,
      ),
    ).toBeLessThan(0.35)
  })

  it.each<readonly [string, DeskSight]>([
    [
      'the request',
      (_, { status, colour, packed, cover }, { value, stock }) =>
        [status, colour === packed, cover, value, stock === 'none'].join(),
    ],
    [
      'the status',
      (kind, { colour, packed, cover }, { value, stock }) =>
        [kind, packed !== null && colour === packed, cover, value, stock === 'none'].join(),
    ],
    [
      'the colours',
      (kind, { status, cover }, { value, stock }) => [kind, status, cover, value, stock === 'none'].join(),
    ],
    [
      'the guarantee',
      (kind, { status, colour, packed }, { value, stock }) =>
        [kind, status, colour === packed, value, stock === 'none'].join(),
    ],
    [
      'the value',
      (kind, { status, colour, packed, cover }, { stock }) =>
        [kind, status, colour === packed, cover, stock === 'none'].join(),
    ],
    [
      'the stock',
      (kind, { status, colour, packed, cover }, { value }) => [kind, status, colour === packed, cover, value].join(),
    ],
  ])('by all but %s does less than 0.95', async (_what, sight) => {
    expect(await share(deskBySight(tasks.train, sight), those)).toBeLessThan(0.95)
  })

  it('does nothing by acting twice, or on another order', async () => {
    const twice: Policy = async (episode, task) => {
      const { request, right } = readDeskTask(task)
      const id = await findOrder(episode, request)
      await call(episode, 'order', { id })
      await call(episode, right.act, { id })
      await call(episode, right.act, { id })
      await call(episode, 'done', {})
    }
    const elsewhere: Policy = async (episode, task) => {
      const { books, right } = readDeskTask(task)
      const id = Object.keys(books.orders).find((known) => known !== right.order)!
      await call(episode, 'order', { id })
      await call(episode, right.act, { id })
      await call(episode, 'done', {})
    }
    expect(await share(twice, those)).toBe(0)
    expect(await share(elsewhere, those)).toBe(0)
  })
})

it('every act is right by some rule', () => {
  expect(new Set(Object.values(actBy))).toEqual(new Set(DeskAct.options))
})
