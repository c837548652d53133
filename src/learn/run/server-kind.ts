import {
  type AdapterRef,
  contextUnder,
  type Datum,
  type ModelService,
  type ParameterName,
  type SampledSequence,
  type Trainer,
  type TrainingMethod,
} from '../../core/index.ts'
import { LearnError } from '../errors.ts'
import { agreementOf, asked, type Bounds, datumOf } from './agreement.ts'
import { refuseNoGradient } from './gradient.ts'

/** Weights at a server, and how they are trained. */
interface AtServer {
  readonly parameter: ParameterName
  readonly model: Pick<ModelService, 'base' | 'sampler' | 'renderer' | 'trainer'>
  readonly method: TrainingMethod
}

const maxTokens = 16
/** Too short to change what is measured. */
const still = 1e-7
/** Long enough to be seen. */
const stride = 0.02
const strides = 8
/** So much must a log-probability have moved in what trains, in nats, to be looked for in what serves. */
const seen = 0.05

/**
 * Holds that a server is of the kind that its client takes it for, with weights of its own that are forgotten afterwards:
 * that gradients of a pass add up, and that published weights stay as they were when training goes on (invariant 11). Neither
 * shows in what is sampled before a step, and the protocol does not tell it.
 * @throws LearnError (`learn/server-kind`); errors of the service pass through.
 */
export async function refuseOtherServer(
  { parameter, model, method }: AtServer,
  { seed, signal, ...bounds }: Bounds,
): Promise<void> {
  const most = agreementOf(model, bounds)
  const trainer = await model.trainer(method, seed)
  try {
    const adapter = await trainer.publish()
    try {
      const prompt = model.renderer.start(asked, [])
      const draw = () => greedy(model, adapter, prompt, signal)
      const drawn = await draw()
      if (drawn.tokens.length === 0) return
      const datum = datumOf(prompt, drawn)
      await refuseOtherSums(parameter, model.base, trainer, datum)
      const moved = await moveOn(trainer, datum, Math.max(seen, 4 * most), signal)
      const changed = furthest(...comparable(drawn, await draw()))
      if (moved > 2 * most && changed > moved / 2) throw moves(parameter, model.base, adapter, changed)
    } finally {
      await model.sampler.unload(adapter)
    }
  } finally {
    await trainer.close()
  }
}

/** Nothing is drawn by chance: what changes the log-probabilities is the weights alone. */
async function greedy(
  { sampler, renderer }: Pick<ModelService, 'sampler' | 'renderer'>,
  adapter: AdapterRef,
  prompt: readonly number[],
  signal: AbortSignal | undefined,
): Promise<SampledSequence> {
  const room = Math.min(maxTokens, contextUnder(sampler, adapter) - prompt.length)
  const params = { maxTokens: room, stopTokens: renderer.stop.tokens, temperature: 0 }
  const [drawn] = await sampler.sample({ prompt, adapter, params, ...(signal && { signal }) })
  signal?.throwIfAborted()
  return drawn ?? { tokens: [], logprobs: [], behaviourLogprobs: [], stopReason: 'cancelled' }
}

/** The gradient of a sequence that is there twice is twice as long. Nothing is known where no norm is told. */
async function refuseOtherSums(parameter: ParameterName, base: string, trainer: Trainer, datum: Datum): Promise<void> {
  const normOf = async (data: readonly Datum[]) => {
    await trainer.forwardBackward(data, { kind: 'cross_entropy' })
    return (await trainer.optimStep({ learningRate: still })).gradNorm
  }
  const one = await normOf([datum])
  const two = await normOf([datum, datum])
  if (one === null || two === null) return
  refuseNoGradient(parameter, { steps: 1, gradNorm: one })
  const ratio = two / one
  if (ratio > 1.5 && ratio < 3) return
  throw otherKind(
    parameter,
    base,
    `the gradient of two equal sequences is ${ratio.toPrecision(3)} times that of one, and 2 is what a sum has`,
  )
}

/** Makes likelier what was said, so that greedily the same is said: until it shows, or it does not. */
async function moveOn(trainer: Trainer, datum: Datum, far: number, signal: AbortSignal | undefined): Promise<number> {
  const of = async () => (await trainer.forward([datum]))[0]?.filter((_, t) => datum.weights?.[t] !== 0) ?? []
  const before = await of()
  let moved = 0
  for (let step = 0; step < strides && moved < far; step++) {
    signal?.throwIfAborted()
    await trainer.forwardBackward([datum], { kind: 'cross_entropy' })
    await trainer.optimStep({ learningRate: stride })
    moved = furthest(before, await of())
  }
  return moved
}

/** What is told of the same tokens after the same: rounding may turn a near tie, and what follows it is another text. */
function comparable(some: SampledSequence, others: SampledSequence): [readonly number[], readonly number[]] {
  const turned = some.tokens.findIndex((token, t) => token !== others.tokens[t])
  const end = turned < 0 ? some.tokens.length : turned
  return [some.logprobs.slice(0, end), others.logprobs.slice(0, end)]
}

const furthest = (some: readonly number[], others: readonly number[]): number =>
  some.reduce((far, one, t) => Math.max(far, Math.abs(one - (others[t] ?? one))), 0)

const moves = (parameter: ParameterName, base: string, { id }: AdapterRef, changed: number) =>
  otherKind(
    parameter,
    base,
    `the adapter "${id}" was published, and its log-probabilities moved by ${changed.toPrecision(3)} when training went on`,
  )

const otherKind = (parameter: ParameterName, base: string, found: string) =>
  new LearnError({
    code: 'learn/server-kind',
    message: `The server of "${base}" is not of the kind that was named, for "${parameter}": ${found}. No step was taken.`,
    hint: "Name its kind: --server-kind skyrl-jax for SkyRL's JAX backend, --server-kind tinker for any other (in a configuration server.kind, in a program `server` of openTinkerModel).",
  })
