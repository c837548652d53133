import { z } from 'zod'
import { parseInput } from '../core/index.ts'
import { noLoss } from '../gate/index.ts'

/** In the place of an optimizer: its Parameter learns nothing, and gives up what it learned, if that is hardly missed. */
export interface Retirement {
  readonly name: 'retire'
  readonly retires: true
  /** The share of the range of rewards that may be lost by it. */
  readonly loss: number
}

const Options = z.strictObject({
  loss: z.number().positive().max(0.5).default(noLoss),
})

/**
 * Retires a Parameter, in a run of its own: `optimize: { notes: retire() }`. The candidate has the value that the agent declares,
 * as before anything was learned. The gate promotes it where held-out tasks show that less than `loss` is lost so: a test of
 * non-inferiority at the error rate of any promotion. Nothing is learned, and no task but held-out ones is attempted.
 * @param options `loss`: what may be lost, as a share of the range of rewards, in (0, 0.5]; default 0.05. Each retirement may
 * lose so much: k of them may lose k times as much.
 * @throws InputError for another loss.
 */
export function retire(options: z.input<typeof Options> = {}): Retirement {
  const { loss } = parseInput(Options, options, 'the options of retire')
  return { name: 'retire', retires: true, loss }
}
