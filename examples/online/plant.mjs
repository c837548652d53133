// A candidate that nobody asked for: the weights that serve, taught something else, and started as a canary. For what an
// operator could do by mistake and a learner by bad luck. The gateway is not running meanwhile: its store is opened here.
import { join } from 'node:path'
import { demonstration } from 'ratchet-agents/agent'
import { agentKey, defaultTenant, mintVersion, parseInput, rng } from 'ratchet-agents/core'
import { canaryGateFrom, LearnFromTrafficConfig } from 'ratchet-agents/learn'
import { supervisedPass } from 'ratchet-agents/optimize/weights'
import { Registry } from 'ratchet-agents/release'
import { openStore } from 'ratchet-agents/store'
import { agentName, rank } from './serve.mjs'
import { searchTools } from './tools.mjs'

const agent = agentKey(defaultTenant, agentName)

/**
 * @param service the embedded model.
 * @param conversations messages, the user's question first, whose assistant is imitated.
 * @param learn the section `learn` that the gateway will have: its canary's rules are those that judge.
 * @returns the canary's id.
 */
export async function plant({ folder, service, conversations, learn, seed, passes = 2, learningRate = 1e-3 }) {
  const store = await openStore({ path: join(folder, 'ratchet.db') })
  try {
    const registry = new Registry(store)
    const { release } = await registry.current(agent)
    const serving = await store.versions.get(release.versions.model)
    const trainer = await service.trainer({ kind: 'lora', rank, alpha: rank }, seed)
    await trainer.loadWeights(await store.blobs.get(serving.value.adapter))
    const data = conversations.map((messages) => demonstration(messages, searchTools, service.renderer))
    for (let pass = 1; pass <= passes; pass++) {
      await supervisedPass(trainer, data, rng('plant', seed, pass), { learningRate, batchSize: 8 })
    }
    const adapter = await store.blobs.put(await trainer.saveWeights())
    await trainer.close()
    const value = { ...serving.value, adapter }
    const version = mintVersion('model', value, { parents: [serving.id], run: null })
    const gate = canaryGateFrom(parseInput(LearnFromTrafficConfig, learn, 'the section learn'))
    const canary = await registry.startCanary({ agent, versions: [version], admission: null, run: null, gate })
    return canary.id
  } finally {
    await store.close()
  }
}
