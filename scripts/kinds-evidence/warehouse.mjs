/**
 * A world of long routines: parcels are sent, money is given back, goods are moved, each by five or six calls of which every one
 * needs what the one before told. Who works there is a program, and errs: at each step it makes the right call by a chance.
 */
import { defineAgent, parameter, skillKind, skills } from '../../dist/agent/index.js'
import { rng } from '../../dist/core/index.js'
import { dice } from './dice.mjs'

const names = ['Ada', 'Bo', 'Cleo', 'Dan', 'Eva', 'Finn', 'Gus', 'Hana', 'Ivo', 'June', 'Kai', 'Lea']
const goods = ['lamp', 'kettle', 'chair', 'tent', 'clock', 'radio', 'rug', 'vase', 'drill', 'globe', 'stool', 'flute']
const wordings = {
  train: {
    send: [(it) => `Send ${it} the parcel that is open.`, (it) => `The open parcel of ${it} goes out today, send it.`],
    refund: [(it) => `Refund the open order of ${it}, it was broken.`, (it) => `Give ${it} the money back, refund it.`],
    move: [(it) => `Move the ${it} to a free bin.`, (it) => `The ${it} needs another bin, move it.`],
  },
  validation: {
    send: [(it) => `Please send the parcel for ${it}.`],
    refund: [(it) => `${it} wants a refund for a broken thing.`],
    move: [(it) => `Find a bin for the ${it} and move it there.`],
  },
  holdout: {
    send: [(it) => `${it} is waiting for a parcel, send it out.`, (it) => `Could you send the parcel of ${it}?`],
    refund: [(it) => `A refund is due to ${it}: broken on arrival.`, (it) => `Refund ${it}, money back, please.`],
    move: [(it) => `The bin of the ${it} is full: move it.`, (it) => `We must move the ${it}, take a free bin.`],
  },
}
export const sorts = ['send', 'refund', 'move']

/** Tasks of one seed. @param n by split */
export function warehouseTasks(seed, n) {
  const chance = rng('warehouse', seed)
  return Object.entries(n).flatMap(([split, count]) =>
    Array.from({ length: count }, (_, i) => {
      const sort = sorts[i % sorts.length]
      const of = sort === 'move' ? goods : names
      const about = of[chance.int(of.length)]
      const said = wordings[split][sort]
      // Everything has another number in each task: none can be learned by heart.
      return {
        id: `${split}-${i}`,
        instruction: said[chance.int(said.length)](about),
        data: { sort, about, base: 100 + chance.int(900) },
        split,
      }
    }),
  )
}

/** What each tool takes, and what it answers: JSON, or words. `null`: the episode ends. */
const toolsOf = (n) => ({
  find_customer: { name: (v) => names.includes(v), says: () => JSON.stringify({ customer: `C${n}`, since: 2019 }) },
  list_orders: {
    customer: (v) => v === `C${n}`,
    says: () =>
      JSON.stringify({
        orders: [
          { id: `O${n + 1}`, state: 'open' },
          { id: `O${n + 2}`, state: 'sent' },
        ],
      }),
  },
  open_order: { order: (v) => v === `O${n + 1}`, says: () => `Order O${n + 1}: in bin B${n + 3}, invoice I${n + 4}.` },
  pick: { bin: (v) => v === `B${n + 3}`, says: () => `Picked into parcel P${n + 5}; seal it.` },
  label: {
    parcel: (v) => v === `P${n + 5}`,
    carrier: (v) => v === 'post',
    says: () => JSON.stringify({ label: `L${n + 6}` }),
  },
  ship: { label: (v) => v === `L${n + 6}`, ends: 'send' },
  check_invoice: { invoice: (v) => v === `I${n + 4}`, says: () => JSON.stringify({ payment: { id: `Y${n + 7}` } }) },
  refund: { payment: (v) => v === `Y${n + 7}`, reason: (v) => v === 'broken', ends: 'refund' },
  find_item: { item: (v) => goods.includes(v), says: () => JSON.stringify({ sku: `S${n + 8}` }) },
  bin_of: { sku: (v) => v === `S${n + 8}`, says: () => `It lies in bin B${n + 9}.` },
  weigh: { bin: (v) => v === `B${n + 9}`, says: () => JSON.stringify({ grams: n * 10 }) },
  free_bin: { grams: (v) => v === n * 10, says: () => `Bin F${n + 10} is free.` },
  move: { sku: (v) => v === `S${n + 8}`, to: (v) => v === `F${n + 10}`, ends: 'move' },
  cancel: { order: (v) => v === `O${n + 1}`, ends: 'cancel' },
})

/** An episode is one task in the warehouse; it ends by its last call, or when the worker has no time left. */
export const warehouse = {
  name: 'warehouse',
  async open({ data }) {
    const tools = toolsOf(data.base)
    let ended = null
    return {
      opening: [],
      tools: Object.entries(tools).map(([name, tool]) => ({
        name,
        description: name.replace('_', ' '),
        parameters: { type: 'object', required: Object.keys(tool).filter((key) => key !== 'says' && key !== 'ends') },
      })),
      async step({ calls }) {
        const messages = calls.map(({ name, arguments: given }) => {
          const { says, ends, ...takes } = tools[name] ?? {}
          const right = tools[name] && Object.entries(takes).every(([key, isRight]) => isRight(given[key]))
          if (!right) return { role: 'tool', name, content: 'That does not exist.', isError: true }
          if (ends) ended = ends
          return { role: 'tool', name, content: ends ? 'Done.' : says() }
        })
        return { messages, done: ended !== null }
      },
      close: async () => ({ state: { solved: ended === data.sort }, counts: {} }),
    }
  },
}
export const solved = ({ state }) => Number(state.solved)

/** How each sort of task is done: what to call next, by what was answered so far. */
const json = (text, ...path) => path.reduce((value, key) => value[key], JSON.parse(text))
const word = (text, pattern) => pattern.exec(text)[0]
const plans = {
  send: [
    (about) => ['find_customer', { name: about }],
    (_, said) => ['list_orders', { customer: json(said[0], 'customer') }],
    (_, said) => ['open_order', { order: json(said[1], 'orders', 0, 'id') }],
    (_, said) => ['pick', { bin: word(said[2], /B\d+/) }],
    (_, said) => ['label', { parcel: word(said[3], /P\d+/), carrier: 'post' }],
    (_, said) => ['ship', { label: json(said[4], 'label') }],
  ],
  move: [
    (about) => ['find_item', { item: about }],
    (_, said) => ['bin_of', { sku: json(said[0], 'sku') }],
    (_, said) => ['weigh', { bin: word(said[1], /B\d+/) }],
    (_, said) => ['free_bin', { grams: json(said[2], 'grams') }],
    (_, said) => ['move', { sku: json(said[0], 'sku'), to: word(said[3], /F\d+/) }],
  ],
}
plans.refund = [
  ...plans.send.slice(0, 3),
  (_, said) => ['check_invoice', { invoice: word(said[2], /I\d+/) }],
  (_, said) => ['refund', { payment: json(said[3], 'payment', 'id'), reason: 'broken' }],
]

/** How good the worker is, what it takes up, and how many acts it has time for. */
const worker = { right: 0.65, takesUp: 0.9, acts: 7 }

/**
 * A program without any model. It takes up the first skill on offer that it can give what it needs, once, and goes on from what
 * that told it; else it makes the next right call by a chance, and a wrong one otherwise.
 */
export const warehouseAgent = (value = null) =>
  defineAgent({
    name: 'warehouse-worker',
    parameters: {
      tools: value === null ? skills() : parameter(skillKind(value.of), value.value),
      dice: parameter(dice, null),
    },
    async run(task, { tools, dice: chance }, episode) {
      const equipped = await tools.equip(episode, task.instruction)
      const about = [...names, ...goods].find((it) => task.instruction.includes(it))
      const known = goods.includes(about) ? { item: about } : { name: about }
      const sort = sorts.find((it) => task.instruction.toLowerCase().includes(it))
      const skill = equipped.tools
        .slice(episode.tools.length)
        .find(({ parameters }) => (parameters.required ?? []).every((key) => key in known))
      let said = []
      let tried = false
      // What a skill for something else told does not help: it begins anew.
      const next = () => {
        try {
          return plans[sort][said.length](about, said)
        } catch {
          said = []
          return plans[sort][0](about, said)
        }
      }
      for (let act = 0; act < worker.acts; act++) {
        const takesUp = skill && !tried && chance.below(worker.takesUp)
        const [name, given] = takesUp
          ? [skill.name, known]
          : chance.below(worker.right)
            ? next()
            : ['open_order', { order: 'no idea' }]
        tried ||= takesUp
        const { messages, done } = await equipped.step({ kind: 'calls', calls: [{ name, arguments: given }] })
        if (done) return { stopReason: 'done', message: null }
        if (messages[0].isError) continue
        said = takesUp ? messages[0].content.split('\n') : [...said, messages[0].content]
      }
      return { stopReason: 'turn-budget', message: null }
    },
  })
