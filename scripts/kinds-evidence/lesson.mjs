import { leaveOneOut } from '../../dist/credit/index.js'
import { pairedGate } from '../../dist/gate/index.js'
import { learn } from '../../dist/learn/index.js'
import { openMemoryStore } from '../../dist/store/index.js'

/**
 * One run of learning in a store of its own, with the credit and the gate of all kinds' evidence.
 * @param look reads what else is wanted of the store before it closes, from what `learn` gave back.
 * @returns success before and, as it serves, after; and what `look` found.
 */
export async function lesson(agent, options, look = async () => ({})) {
  const store = await openMemoryStore()
  const summary = await learn(agent, {
    store,
    credit: leaveOneOut(),
    gate: pairedGate({ margin: 0.02, alpha: 0.05 }),
    ...options,
  })
  const { base, learned, decision } = summary
  const found = await look(store, summary)
  await store.close()
  return { before: base.success, after: decision === 'promote' ? learned.success : base.success, ...found }
}
