import type { ModelService, Saved, Trainer, TrainerPath } from '../../src/core/index.ts'

type Kept = Pick<ModelService, 'trainer' | 'loadAdapter'>

/**
 * A model service as one behind a server is: what its trainers save stays there, under a path, and they tell neither the
 * gradient's norm nor what was computed.
 */
export function keptAtServer<S extends Kept>(service: S) {
  const shelf = new Map<string, Uint8Array>()
  let saves = 0
  const shelve = (saved: Saved): TrainerPath => {
    if (!(saved instanceof Uint8Array)) return saved
    const uri = `server://saved-${saves++}`
    shelf.set(uri, saved)
    return { at: 'trainer', uri }
  }
  const taken = (saved: Saved): Uint8Array => {
    const bytes = saved instanceof Uint8Array ? undefined : shelf.get(saved.uri)
    if (bytes === undefined) throw new Error('the server has no such path')
    return bytes
  }
  const remote = (trainer: Trainer): Trainer => ({
    capabilities: { ...trainer.capabilities, saves: 'paths' },
    anchoring: null,
    forwardBackward: async (data, loss) => {
      const { tokens, ...result } = await trainer.forwardBackward(data, loss)
      return { ...result, tokens: { ...tokens, computed: null } }
    },
    forward: (data, temperature) => trainer.forward(data, temperature),
    optimStep: async (params) => ({ ...(await trainer.optimStep(params)), gradNorm: null }),
    saveState: async () => shelve(await trainer.saveState()),
    loadState: async (state) => trainer.loadState(taken(state)),
    saveWeights: async () => shelve(await trainer.saveWeights()),
    loadWeights: async (weights, moments) => trainer.loadWeights(taken(weights), moments),
    discard: async ({ uri }) => void shelf.delete(uri),
    publish: () => trainer.publish(),
    close: () => trainer.close(),
  })
  return {
    service: {
      ...service,
      trainer: async (...given: Parameters<Kept['trainer']>) => remote(await service.trainer(...given)),
      loadAdapter: async (weights: Saved) => service.loadAdapter(taken(weights)),
    },
    /** What the server keeps, by path. */
    shelf,
  }
}
