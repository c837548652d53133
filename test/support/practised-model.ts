import {
  type AdapterRef,
  type Datum,
  type ModelService,
  type Saved,
  seedOf,
  type Trainer,
  type TrainerCapabilities,
} from '../../src/core/index.ts'
import { present } from '../../src/errors/index.ts'
import { bytesOf, readSafetensors, writeSafetensors } from '../../src/model/index.ts'
import { scriptedModel } from './scripted-model.ts'

/** How fast a {@link practisedModel} learns, in tenths of skill a step. */
export interface PractisedModelOptions {
  /** Of one step that imitates. Default 1. */
  readonly imitation?: number
  /** Imitation never gets further. Default 2. */
  readonly imitated?: number
  /**
   * What the step with this number, counted from 1, gains by practice at this learning rate; below 0 it loses. Default 2,
   * always.
   */
  readonly practice?: (step: number, learningRate: number) => number
  /** What a skill adds to the log-probability of each token. Default 0. */
  readonly logprob?: (skill: number) => number
  /** Called before each optimizer step; may throw, as a trainer does that fails. */
  readonly onStep?: () => void
  /** Called with the data of each gradient: what is imitated, or practised. */
  readonly onData?: (data: readonly Datum[], loss: string) => void
}

type Gain = Required<Pick<PractisedModelOptions, 'imitation' | 'imitated' | 'practice' | 'logprob'>>

/**
 * A model service in memory for the word environment. Its weights are one number, the skill from 0 to 10: so many
 * attempts in ten look before they answer, and so many tasks in ten are solved greedily. Optimizer steps raise it.
 */
export function practisedModel({
  imitation = 1,
  imitated = 2,
  practice = () => 2,
  logprob = () => 0,
  onStep,
  onData,
}: PractisedModelOptions = {}) {
  const skills = new Map<string, number>()
  const trainers = new Set<Trainer>()
  const publish = (skill: number): AdapterRef => {
    const id = `adapter-${skills.size}`
    skills.set(id, skill)
    return { kind: 'adapter', id }
  }
  const says = (prompt: string, skill: number): string[] => {
    const word = /the word is (\S+)/.exec(prompt)?.[1]
    if (word !== undefined) return [`!answer {"word":"${word}"}`]
    const [right, wrong] = ['!look {}', '!answer {"word":"guess"}']
    const solved = skill > seedOf(/the word of (\S+)\?/.exec(prompt)?.[1] ?? '') % 10
    const options = Array.from({ length: 10 }, (_, i) => (i < skill ? right : wrong))
    return solved ? options : options.toReversed()
  }
  const { sampler, renderer, requests, logprobs } = scriptedModel((prompt, { adapter }) => {
    const skill = adapter === null ? 0 : skills.get(adapter.id)
    if (skill === undefined) throw new Error(`adapter ${adapter?.id} is not loaded`)
    return says(prompt, skill)
  })
  /** Of the targets that count; those of texts that the model would not say are 0. */
  const measured = ({ input, target, weights = [] }: Datum, skill: number): number[] => {
    const from = weights.findIndex((weight) => weight > 0)
    if (from === -1) return input.map(() => 0)
    const said = logprobs(target.slice(from), says(renderer.decode(input.slice(0, from + 1)), skill))
    return [...input.slice(0, from).map(() => 0), ...said.map((one) => (Number.isFinite(one) ? one : 0))]
  }
  const service: ModelService = {
    base: 'words',
    baseHash: 'the words as they are',
    sampler: {
      ...sampler,
      unload: async ({ id }) => {
        skills.delete(id)
      },
    },
    renderer,
    trainer: async () => {
      const trainer = new PractisedTrainer({ imitation, imitated, practice, logprob }, publish, measured, {
        onStep,
        onData,
        onClose: () => trainers.delete(trainer),
      })
      trainers.add(trainer)
      return trainer
    },
    loadAdapter: async (saved) => publish(skillIn(saved)),
    close: async () => {},
  }
  return {
    service,
    requests,
    /** Adapters that are loaded and not unloaded. */ adapters: skills,
    /** Trainers that are not closed. */ trainers,
  }
}

interface PractisedHooks {
  readonly onStep: (() => void) | undefined
  readonly onData: PractisedModelOptions['onData']
  readonly onClose: () => void
}

/** Log-probabilities of a datum's targets at a skill. */
type Measured = (datum: Datum, skill: number) => number[]

class PractisedTrainer implements Trainer {
  #skill = 0
  #steps = 0
  /** What the next step is made of: batches to imitate, and whether there is any to practise. */
  #pending = { imitates: 0, practises: false }
  readonly #gain: Gain
  readonly #publish: (skill: number) => AdapterRef
  readonly #measured: Measured
  readonly #on: PractisedHooks

  constructor(gain: Gain, publish: (skill: number) => AdapterRef, measured: Measured, on: PractisedHooks) {
    this.#gain = gain
    this.#publish = publish
    this.#measured = measured
    this.#on = on
  }

  async forwardBackward(data: Parameters<Trainer['forwardBackward']>[0], { kind }: { readonly kind: string }) {
    this.#on.onData?.(data, kind)
    if (kind === 'cross_entropy') this.#pending.imitates++
    else this.#pending.practises = true
    const tokens = data.reduce((sum, { input }) => sum + input.length, 0)
    return {
      loss: 1,
      // Those of the policy that sampled: no step has moved it since.
      logprobs: data.map(({ input, logprobs }) => logprobs ?? input.map(() => 0)),
      tokens: { data: tokens, computed: tokens },
    }
  }

  readonly anchoring = null
  readonly capabilities = {
    losses: ['cross_entropy', 'importance_sampling', 'ppo', 'cispo'],
    temperatures: true,
    saves: 'bytes',
  } satisfies TrainerCapabilities

  async forward(data: Parameters<Trainer['forward']>[0]) {
    const more = this.#gain.logprob(this.#skill)
    return data.map((datum) => this.#measured(datum, this.#skill).map((one) => one + more))
  }

  async optimStep({ learningRate }: Parameters<Trainer['optimStep']>[0]) {
    this.#on.onStep?.()
    const { imitates, practises } = this.#pending
    const { imitation, imitated, practice } = this.#gain
    let gain = practises ? practice(this.#steps + 1, learningRate) : 0
    for (let i = 0; i < imitates; i++) gain += Math.min(imitation, Math.max(0, imitated - this.#skill - gain))
    // As it is stored, so that a run that goes on from a file is the same.
    this.#skill = Math.fround(Math.max(0, Math.min(10, this.#skill + gain)))
    this.#pending = { imitates: 0, practises: false }
    return { gradNorm: 1, anchorPenalty: 0, step: ++this.#steps }
  }

  saveState = async () => write({ skill: this.#skill, steps: this.#steps })
  saveWeights = async () => write({ skill: this.#skill, steps: 0 })
  publish = async () => this.#publish(this.#skill)

  close = async () => this.#on.onClose()

  async discard() {}

  async loadState(state: Saved) {
    const { skill, steps } = read(state)
    this.#skill = skill
    this.#steps = steps
  }

  async loadWeights(weights: Saved, moments: 'clear' | 'keep' = 'clear') {
    this.#skill = read(weights).skill
    if (moments === 'clear') this.#steps = 0
  }
}

/** The skill in weights that a run kept. */
export const skillIn = (saved: Saved): number => read(saved).skill

interface Weights {
  readonly skill: number
  readonly steps: number
}

const write = ({ skill, steps }: Weights): Uint8Array =>
  writeSafetensors(new Map([['weights', { shape: [2], data: Float32Array.of(skill, steps) }]]))

function read(saved: Saved): Weights {
  const { data } = present(readSafetensors(bytesOf(saved)).tensors.get('weights'), 'the weights')
  const [skill = 0, steps = 0] = new Float32Array(new Uint8Array(data).buffer)
  return { skill, steps }
}
