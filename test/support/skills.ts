import { newSkill, type NewSkill, type Skill } from '../../src/agent/index.ts'

/** A learned skill that fetches something and opens it. */
export const learnedSkill = (change: Partial<NewSkill> = {}): Skill =>
  newSkill({
    name: 'fetch_open',
    description: 'Fetches an order and opens it.',
    parameters: { type: 'object', properties: { order: { type: 'string' } }, required: ['order'] },
    source: "function run(input, call) { return call('open', { at: call('fetch', { order: input.order }) }) }",
    uses: ['fetch', 'open'],
    tests: [],
    madeBy: 'learned',
    cues: ['Open the order A1.'],
    derivedFrom: ['t-1'],
    owner: { tenant: null, about: null },
    model: null,
    ...change,
  })
