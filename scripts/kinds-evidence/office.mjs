/**
 * A world in which only experience helps: each sort of request is for one of several desks, by no rule that anybody could
 * guess. Practice and held-out tasks are of the same sorts in other words, with other particulars.
 */
import { defineAgent, memory, parameter } from '../../dist/agent/index.js'
import { rng } from '../../dist/core/index.js'
import { dice } from './dice.mjs'

export const matters = [
  'a broken kettle',
  'a lost parcel',
  'a wrong invoice',
  'a late refund',
  'a torn coat',
  'a missing manual',
  'a noisy fridge',
  'a cancelled course',
  'a double charge',
  'a faded poster',
  'an expired voucher',
  'a locked account',
  'a bent bicycle wheel',
  'a stained carpet',
  'a cracked screen',
  'a dead battery',
  'a leaking tent',
  'a delayed ferry',
  'a mislabelled wine',
  'an unsigned lease',
  'a silent doorbell',
  'a spoiled delivery',
  'a jammed printer',
  'a duplicate booking',
]
export const desks = ['amber', 'birch', 'cedar', 'denim', 'ebony', 'flint']
const wordings = {
  train: [(it, n) => `Where do I go with ${it}? My number is ${n}.`, (it, n) => `Order ${n}: I have ${it}.`],
  validation: [(it, n) => `I am calling about ${it}, customer ${n}.`],
  holdout: [
    (it, n) => `Hello, ${it} again, reference ${n}. Who can help?`,
    (it, n) => `Please sort out ${it} for client ${n}.`,
  ],
}

/** Tasks of one seed: which desk is right for what is drawn anew. @param n by split */
export function officeTasks(seed, n) {
  const chance = rng('office', seed)
  const deskFor = new Map(matters.map((matter) => [matter, desks[chance.int(desks.length)]]))
  return Object.entries(n).flatMap(([split, count]) =>
    Array.from({ length: count }, (_, i) => {
      const matter = matters[i % matters.length]
      const wording = wordings[split][chance.int(wordings[split].length)]
      return {
        id: `${split}-${i}`,
        instruction: wording(matter, 1_000 + chance.int(9_000)),
        data: { desk: deskFor.get(matter) },
        split,
      }
    }),
  )
}

/** An episode is one request, brought to one desk. */
export const office = {
  name: 'office',
  async open({ data }) {
    let at = null
    return {
      opening: [],
      tools: [],
      async step({ content }) {
        at = content
        return { messages: [], done: true }
      },
      close: async () => ({ state: { right: at === data.desk }, counts: {} }),
    }
  },
}

export const rightDesk = ({ state }) => Number(state.right)

/**
 * A program without any model: it goes where it went before with such a request, and else anywhere.
 * @param options of its memory; `null` for the same program that never recalls.
 */
export const officeAgent = (options = {}) =>
  defineAgent({
    name: 'office-worker',
    parameters: { cases: memory(options ?? {}), dice: parameter(dice, null) },
    async run(task, { cases, dice: chance }, episode) {
      const known = options === null ? [] : await cases.find(task.instruction)
      const told = known.find(({ worked }) => worked)?.text ?? ''
      const desk = desks.find((name) => told.includes(name)) ?? desks[chance.throw(desks.length)]
      cases.note(desk)
      await episode.step({ kind: 'message', content: desk })
      return { stopReason: 'done', message: null }
    },
  })
