import type { Loss, Trainer } from '../../core/index.ts'
import { LearnError } from '../errors.ts'

/** What a run asks of its trainer. */
export interface TrainerNeeds {
  readonly losses: readonly Loss['kind'][]
  /** At which samples are drawn that it learns from by policy gradient; `null`: not known yet. */
  readonly temperature: number | null
  /** The options that need weights in bytes, those that need anchors, and those that need an auxiliary head, where they are set. */
  readonly bytesFor?: readonly string[]
  readonly anchorsFor?: readonly string[]
  readonly auxiliaryFor?: readonly string[]
}

/**
 * Holds before a run starts that its trainer can do what the run will ask of it.
 * @throws LearnError (`learn/trainer-lacks`) that names all that it cannot.
 */
export function refuseIncapable({ capabilities, anchoring, auxiliary }: Trainer, needs: TrainerNeeds): void {
  const { losses, temperatures, saves } = capabilities
  const lacks = [
    ...needs.losses.filter((loss) => !losses.includes(loss)).map((loss) => `the loss "${loss}"`),
    ...(temperatures || (needs.temperature ?? 1) === 1 ? [] : [`losses at the temperature ${needs.temperature}`]),
    ...(saves === 'bytes' ? [] : (needs.bytesFor ?? []).map((option) => `weights in bytes, for ${option}`)),
    ...(anchoring ? [] : (needs.anchorsFor ?? []).map((option) => `anchors, for ${option}`)),
    ...(auxiliary ? [] : (needs.auxiliaryFor ?? []).map((option) => `an auxiliary head, for ${option}`)),
  ]
  if (lacks.length === 0) return
  throw new LearnError({
    code: 'learn/trainer-lacks',
    message: `The trainer lacks what the run needs: ${lacks.join('; ')}. It knows the losses ${losses.join(', ')}.`,
    hint: 'Choose another loss, sample at temperature 1, and leave out the options that are named; or take another trainer.',
  })
}
