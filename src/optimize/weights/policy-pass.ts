import type { AuxiliaryTargets, Datum, PolicySample, Trainer } from '../../core/index.ts'
import { policyDatum, shifted } from './datum.ts'
import { passBySlopes } from './losses/by-slopes.ts'
import { type PolicyLoss, slopesOf, trainersLoss } from './losses/index.ts'
import { klSlopes } from './reference.ts'

/** A sample, what each of its tokens counts in its batch, and the reference's log-probabilities of its targets. */
export interface WeighedSample {
  readonly sample: PolicySample
  readonly weight: number
  readonly reference: readonly number[] | null
  /** Targets of the auxiliary tasks, weighed. */
  readonly auxiliary?: AuxiliaryTargets
}

/** Samples with one loss, all of one temperature. */
export interface PolicyPass {
  readonly samples: readonly WeighedSample[]
  readonly loss: PolicyLoss
  readonly temperature: number
  /** β of the KL in the loss, where there is a reference. */
  readonly klWeight: number
}

/** What a pass came to. */
export interface Passed {
  readonly loss: number
  /** Of the auxiliary tasks, weighed; 0 without any. */
  readonly auxiliaryLoss: number
  readonly data: readonly Datum[]
  readonly logprobs: readonly (readonly number[])[]
  readonly tokens: { readonly data: number; readonly computed: number | null }
  /** Sum over the tokens of k3 to the reference, unweighted. */
  readonly referenceKl: number
}

/** Adds the gradient of samples to the trainer's: by its own loss where it knows one, else by the slopes. */
export async function policyPass(trainer: Trainer, pass: PolicyPass): Promise<Passed> {
  const { samples, loss, temperature } = pass
  const data = samples.map(
    ({ sample, weight, auxiliary }): Datum => ({ ...policyDatum(sample, weight), ...(auxiliary && { auxiliary }) }),
  )
  const known = samples.every(({ reference }) => reference === null) ? trainersLoss(loss, temperature) : null
  if (known) {
    const { loss: sum, auxiliaryLoss = 0, logprobs, tokens } = await trainer.forwardBackward(data, known)
    return { loss: sum, auxiliaryLoss, data, logprobs, tokens, referenceKl: 0 }
  }
  const logprobs = await trainer.forward(data, temperature)
  let [sum, referenceKl] = [0, 0]
  const slopes = data.map((datum, i) => {
    const measured = logprobs[i] ?? []
    const own = slopesOf(loss, {
      logprobs: measured,
      oldLogprobs: datum.logprobs ?? [],
      advantages: datum.advantages ?? [],
    })
    sum += own.loss
    const one = samples[i]
    if (!one?.reference) return own.slopes
    const near = klSlopes(measured, one.reference, shifted(one.sample.sampled), pass.klWeight * one.weight)
    sum += near.loss
    referenceKl += near.loss / (pass.klWeight * one.weight)
    return own.slopes.map((slope, t) => slope + (near.slopes[t] ?? 0))
  })
  const { tokens, auxiliaryLoss = 0 } = await passBySlopes(trainer, { data, logprobs, slopes, temperature })
  return { loss: sum, auxiliaryLoss, data, logprobs, tokens, referenceKl }
}
