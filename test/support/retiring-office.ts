import { choice, defineAgent, memory, skills, text } from '../../src/agent/index.ts'
import type { Json, Optimizer, Store, VersionSet } from '../../src/core/index.ts'
import { pairedGate } from '../../src/gate/index.ts'
import { learn, type RolloutOptions, type RolloutSummary, rollouts } from '../../src/learn/index.ts'
import { Registry } from '../../src/release/index.ts'
import { rubric, verifier } from '../../src/reward/index.ts'
import { desks, deskTasks } from './choice-kind.ts'
import { item } from './memory-items.ts'
import { learnedSkill } from './skills.ts'

/** Whether the rest of the office knows by itself what its cases tell it: as weights do that have learned from them. */
export const rest = { knows: false }

/** Asks the desk that it remembers, else sales. Everything else that it has decides nothing that is paid for. */
export const office = defineAgent({
  name: 'office',
  parameters: {
    cases: memory({ explore: 0 }),
    notes: memory({ explore: 0 }),
    greeting: text('Good day.'),
    tools: skills({ explore: 0 }),
    tone: choice({ options: ['curt', 'polite'], start: 'curt', explore: 0 }),
  },
  async run({ instruction }, { cases, notes, greeting, tone }, episode) {
    const [known] = await cases.find(instruction)
    await notes.find(instruction)
    await episode.step({
      kind: 'message',
      content: [known?.text ?? (rest.knows ? 'refunds' : 'sales'), greeting.value, await tone.choose()].join(' '),
    })
    return { stopReason: 'done', message: null }
  },
})

const cue = 'I want my money back for an order.'
/** A value with changes to the one that is declared. */
const declared = (name: keyof (typeof office)['parameters'], changes: object): object => ({
  ...(office.parameters[name].initial(() => '') as object),
  ...changes,
})
/** What it learned, of each Parameter. */
export const learnedValues = {
  cases: declared('cases', { items: [item(cue, { text: 'refunds' })] }),
  notes: declared('notes', { items: [item(cue, { text: 'People like tea.' })] }),
  greeting: declared('greeting', { text: 'Good morning!' }),
  tools: declared('tools', { skills: [learnedSkill()] }),
  tone: declared('tone', { policy: { by: 'fixed', option: 'polite' } }),
}
type Name = keyof typeof learnedValues

/** Proposes a value, whatever was seen. */
export const proposing = (kind: string, proposed: unknown): Optimizer => ({
  name: 'proposing',
  kind,
  open: async ({ value }) => ({
    bound: async () => value,
    propose: async () => proposed,
    save: async () => ({ state: null }),
    step: async () => ({}),
  }),
})

const askedRight = ({ state }: { readonly state: Json }) => Number(JSON.stringify(state).includes('refunds'))
export const solved = rubric({ solved: verifier((final) => askedRight(final)) })
export const gate = pairedGate({ margin: 0.02, alpha: 0.05 })
const manyTasks = deskTasks.flatMap((task) =>
  Array.from({ length: task.split === 'holdout' ? 5 : 1 }, (_, i) => ({
    ...task,
    id: `${task.id}-${i}` as typeof task.id,
  })),
)
export const source = rollouts(desks, manyTasks)

type Optimize = RolloutOptions['optimize'] & {}

/** The office in a store of its own. */
export const officeIn = (store: Store) => {
  const run = (optimize: Optimize, more: Partial<RolloutOptions> = {}): Promise<RolloutSummary> =>
    learn(office, {
      store,
      source,
      reward: solved,
      optimize,
      gate,
      schedule: { updates: 1, tasks: 2, validateEvery: 1, patience: null, target: null },
      deterministic: true,
      ...more,
    })
  return {
    run,
    /** These learn something beside the cases, and all are released together. */
    learned: (...others: readonly Name[]): Promise<RolloutSummary> =>
      run(
        Object.fromEntries(
          (['cases', ...others] as const).map(
            (name) => [name, proposing(office.parameters[name].kind, learnedValues[name])] as const,
          ),
        ),
      ),
    serving: async () => (await new Registry(store).current('office')).release,
    declaredVersions: async (): Promise<VersionSet> => {
      const [first] = await store.releases.activations('office')
      return (first && (await store.releases.get(first.release)))?.versions ?? {}
    },
  }
}
