/** The post room of `examples/joint.mjs`: its parcels, the agent that sends them, and how each part of it learns. */
import {
  caseUtility,
  choice,
  defineAgent,
  exemplars,
  memory,
  pairedGate,
  policyGradient,
  recipe,
  rubric,
  Task,
  text,
  thompson,
  user,
  verifier,
  weights,
} from 'ratchet-agents'
import { exemplarsIn } from 'ratchet-agents/optimize/text'

const people = ['Ada', 'Ben', 'Cora', 'Dan', 'Eva', 'Finn', 'Gina', 'Hugo', 'Ida', 'Jack', 'Kim', 'Leo']
const things = 'lamp box book chair clock vase bag drum cake map bell coat desk ring fan rug'.split(' ')
const splits = ['train', 'holdout', 'train', 'holdout', 'validation', 'train', 'holdout', 'holdout', 'train']
const bayOf = (person) => 1 + (people.indexOf(person) % 2)

export const tasks = people.flatMap((person, p) =>
  things.map((thing, t) => {
    const heavy = (p + t) % 2 === 0
    const split = splits[(p + 3 * t) % splits.length]
    const instruction = `Send the ${heavy ? 'heavy ' : ''}${thing} to ${person}.`
    return Task.parse({ id: `${person}-${thing}`, instruction, data: { person, thing, heavy }, split })
  }),
)
export const environment = {
  name: 'post-room',
  /** One parcel: it is sent once, and arrives or does not. */
  open({ data: { person, thing, heavy } }) {
    let sent = ''
    return {
      opening: [],
      tools: [],
      step(action) {
        sent = action.content
        return { messages: [], done: true }
      },
      close: () => {
        const right = `${thing} > ${person}, bay ${bayOf(person)}, by ${heavy ? 'cart' : 'hand'}, ring`
        return { state: { arrived: sent === right }, counts: {} }
      },
    }
  },
}
export const arrived = ({ state }) => Number(state.arrived)

// The agent. Where nothing is known yet it does one thing or the other, by the parcel's name.
export const agent = defineAgent({
  name: 'post-room',
  parameters: {
    model: weights({ base: 'minimind2-small', rank: 16 }),
    notes: memory({ recall: 1 }),
    manners: text('Parcels are announced at the door.'),
    carrier: choice({ options: ['hand', 'cart'], features: 1 }),
  },
  async run(task, { model, notes, manners, carrier }, episode) {
    const label = await model.complete([user(task.instruction)])
    const person = label.split(' > ')[1] ?? ''
    const [known] = await notes.find(`Where does ${person} sit?`)
    const bay = known?.text.match(/bay (\d)/)?.[1] ?? either(task.id, '1', '2')
    const [example] = exemplarsIn(manners.value).exemplars
    const announce = example?.answered.match(/ring|knock/)?.[0] ?? either(`at ${task.id}`, 'ring', 'knock')
    const by = await carrier.choose([task.instruction.includes('heavy') ? 1 : -1])
    const sent = `${label}, bay ${bay}, by ${by}, ${announce}`
    notes.note(sent)
    await episode.step({ kind: 'message', content: sent })
    return { stopReason: 'done', message: null }
  },
})
const either = (name, one, other) =>
  [...name].reduce((sum, letter) => (31 * sum + letter.codePointAt(0)) % 1009, 7) % 2 === 0 ? one : other

/** What people showed: how a label is written, and nothing of bays, bells and carts. */
export const demonstrations = things.flatMap((thing, t) =>
  [0, 5].map((step) => {
    const person = people[(t + step) % people.length]
    const said = `Send the ${(t + step) % 2 ? 'heavy ' : ''}${thing} to ${person}, please.`
    return {
      messages: [
        { role: 'user', content: said },
        { role: 'assistant', content: `${thing} > ${person}` },
      ],
    }
  }),
)

/** How an episode is shown as a worked example: what was asked, and what was sent, as the program noted it. */
const show = ({ task, decisions }) => {
  const note = decisions.findLast(({ made }) => made?.did === 'note')
  return { asked: task.instruction, answered: note?.made.text ?? '' }
}

export const optimize = {
  model: policyGradient(recipe.policy),
  notes: caseUtility(),
  manners: exemplars({ count: 1, evaluations: 64, measuredBy: 8, perUpdate: 1, show, sessions: { public: true } }),
  carrier: thompson(),
}
export const gate = pairedGate({ margin: 0.02, alpha: 0.05 })
export const solved = rubric({ arrived: verifier(arrived) })
