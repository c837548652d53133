/**
 * A world of several steps in which only experience helps: errands on a web site. An errand leads over four pages, in an order
 * that each visit draws anew, and on each page one of three buttons goes on, by no rule that anybody could guess. One page
 * asks for the customer's number. Practice and held-out tasks are of the same errands in other words, for other customers.
 */
import { defineAgent, memory, parameter } from '../../dist/agent/index.js'
import { rng } from '../../dist/core/index.js'
import { dice } from './dice.mjs'

const errands = [
  'book the ferry',
  'change the address',
  'cancel the paper',
  'renew the passport',
  'order a skip',
  'report a leak',
  'join the choir',
  'rent a locker',
  'extend the loan',
  'register the boat',
  'move the appointment',
  'claim the deposit',
]
const places = ['Start', 'Options', 'Details', 'Extras', 'Terms', 'Summary', 'Payment']
const buttons = ['amber', 'birch', 'cedar', 'denim', 'ebony', 'flint', 'grape', 'hazel']
const wordings = {
  train: [(it, n) => `Please ${it} for customer ${n}.`, (it, n) => `Customer ${n} wants to ${it}.`],
  validation: [(it, n) => `I am number ${n}, and I would like to ${it}.`],
  holdout: [(it, n) => `Hello, can you ${it}? ${n} is the number.`, (it, n) => `${n} asked us to ${it} today.`],
}
const identify = 'Who is it'

/** Tasks of one seed: what goes on where is drawn anew. @param n by split */
export function siteTasks(seed, n) {
  const chance = rng('site', seed)
  const walks = errands.map(() => [
    { page: identify, buttons: ['name', 'number', 'skip'], right: 'number' },
    ...chance
      .shuffle(places)
      .slice(0, 3)
      .map((page) => {
        const offered = chance.shuffle(buttons).slice(0, 3)
        return { page, buttons: offered, right: offered[chance.int(3)] }
      }),
  ])
  return Object.entries(n).flatMap(([split, count]) =>
    Array.from({ length: count }, (_, i) => {
      const errand = i % errands.length
      const wording = wordings[split][chance.int(wordings[split].length)]
      const customer = 1_000 + chance.int(9_000)
      return {
        id: `${split}-${i}`,
        instruction: wording(errands[errand], customer),
        data: { customer, walk: chance.shuffle(walks[errand]) },
        split,
      }
    }),
  )
}

const shows = ({ page, buttons: offered }) => `Page ${page} of a visit. Buttons: ${offered.join(', ')}.`

/** An episode is one visit. It ends with the last page. */
export const site = {
  name: 'site',
  async open({ data: { customer, walk } }) {
    let at = 0
    return {
      opening: [{ role: 'user', content: shows(walk[0]) }],
      tools: [],
      async step({ content }) {
        const { right } = walk[at]
        if (content === (right === 'number' ? `number ${customer}` : right)) at++
        const done = at === walk.length
        return { messages: [{ role: 'user', content: done ? 'Done.' : shows(walk[at]) }], done }
      },
      close: async () => ({ state: { done: at === walk.length }, counts: {} }),
    }
  },
}

export const errandDone = ({ state }) => Number(state.done)

const acts = 7
const without = (text) => text.replaceAll(/\d+/g, '#')

/** What a recalled item says to do at this page; `null`: nothing. The last of several tries is the one that went on. */
const follow = {
  state({ type, text }, page) {
    if (type !== 'exemplar') return null
    const steps = [...text.matchAll(/saw: (.*)\n\s*did: (.*)/g)]
    return steps.findLast(([, saw]) => saw === without(page))?.[2] ?? null
  },
  place({ type, text }, _page, act) {
    if (type === 'exemplar') return [...text.matchAll(/did: (.*)/g)][act]?.[1] ?? null
    return text.split('\n')[act] ?? null
  },
}

/**
 * A program without any model. It does what a recalled episode did, and presses any button where none says anything.
 * @param how `state`: what was done at this page; `place`: what was done as the nth act; `null`: it never recalls.
 */
export const siteAgent = (how) =>
  defineAgent({
    name: 'visitor',
    parameters: { cases: memory(), dice: parameter(dice, null) },
    async run(task, { cases, dice: chance }, episode) {
      const known = how === null ? [] : (await cases.find(task.instruction)).filter(({ worked }) => worked)
      const customer = /\d+/.exec(task.instruction)[0]
      let page = episode.opening[0].content
      for (let act = 0; act < acts; act++) {
        const told = known.map((item) => follow[how](item, page, act)).find((did) => did !== null)
        const offered = /Buttons: (.*)\./.exec(page)[1].split(', ')
        const did = told ?? offered[chance.throw(offered.length)]
        const content = did === 'number' ? `number ${customer}` : did.replace('#', customer)
        const { messages, done } = await episode.step({ kind: 'message', content })
        if (done) return { stopReason: 'done', message: null }
        page = messages[0].content
      }
      return { stopReason: 'turn-budget', message: null }
    },
  })
