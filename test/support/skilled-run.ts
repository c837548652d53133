import { defineAgent, skills } from '../../src/agent/index.ts'
import type { Environment, Store } from '../../src/core/index.ts'
import { leaveOneOut } from '../../src/credit/index.ts'
import { pairedGate } from '../../src/gate/index.ts'
import { learn, type RolloutOptions, rollouts } from '../../src/learn/index.ts'
import { induce } from '../../src/optimize/skill/index.ts'
import { rubric, verifier } from '../../src/reward/index.ts'
import { readerTasks } from './reader.ts'
import { smallSchedule } from './small-run.ts'

/** Orders that are found, and then opened; nothing more is needed. */
const orders: Environment = {
  name: 'orders',
  open(task, seed) {
    let isOpen = false
    const name = task.instruction
    return {
      // By hand it is now and then done wrong.
      opening: [{ role: 'user', content: seed % 2 === 0 ? 'careful' : 'hasty' }],
      tools: ['find', 'open_order'].map((tool) => ({ name: tool, description: tool, parameters: {} })),
      step(action) {
        const calls = action.kind === 'calls' ? action.calls : []
        const messages = calls.map((call) => {
          if (call.name === 'find')
            return { role: 'tool' as const, name: 'find', content: JSON.stringify({ id: `${name}#` }) }
          isOpen = call.arguments['id'] === `${name}#`
          return { role: 'tool' as const, name: 'open_order', content: 'opened' }
        })
        return { messages, done: isOpen }
      },
      close: () => ({ state: { isOpen }, counts: {} }),
    }
  },
}

/** A program that uses a skill where it is offered one, and its tools otherwise. */
const clerk = defineAgent({
  name: 'clerk',
  parameters: { tools: skills() },
  async run(task, { tools }, episode) {
    const equipped = await tools.equip(episode, task.instruction)
    const call = (name: string, given: Record<string, string>) =>
      equipped.step({ kind: 'calls', calls: [{ name, arguments: given }] })
    const skill = equipped.tools[episode.tools.length]
    if (skill) await call(skill.name, { name: task.instruction })
    else {
      await call('find', { name: task.instruction })
      await call('open_order', { id: `${task.instruction}${episode.opening[0]?.content === 'hasty' ? '' : '#'}` })
    }
    return { stopReason: 'done', message: null }
  },
})

/** One run in which skills are learned. */
export const runSkilled = (at: Store, changes: Partial<RolloutOptions> = {}) =>
  learn(clerk, {
    store: at,
    source: rollouts(orders, readerTasks),
    reward: rubric({ solved: verifier(({ state }) => Number((state as { readonly isOpen: boolean }).isOpen)) }),
    credit: leaveOneOut(),
    optimize: { tools: induce({ fewest: 2 }) },
    gate: pairedGate({ margin: 0.5, alpha: 0.25, lifetime: { alpha: 0.25 } }),
    schedule: smallSchedule,
    deterministic: true,
    ...changes,
  })
