import { cispo } from './cispo.ts'
import { gspo } from './gspo.ts'
import { importanceSampling } from './importance-sampling.ts'
import type { PolicyLoss, SampleTerms, Slopes } from './policy-loss.ts'
import { ppo } from './ppo.ts'

export { type PolicyLoss, type SampleTerms, type Slopes, trainersLoss } from './policy-loss.ts'
export { sequenceRatio } from './gspo.ts'

/** A loss of one sample and its slopes, whatever a trainer knows. */
export function slopesOf(loss: PolicyLoss, terms: SampleTerms): Slopes {
  switch (loss.kind) {
    case 'importance_sampling':
      return importanceSampling(terms)
    case 'ppo':
      return ppo(terms, loss.clipLow, loss.clipHigh, loss.dualClip)
    case 'cispo':
      return cispo(terms, loss.clipLow, loss.clipHigh)
    case 'gspo':
      return gspo(terms, loss.clipLow, loss.clipHigh)
  }
}
