import type { Precision, PrecisionChoice } from '../../../core/index.ts'
import type { Device } from './device.ts'
import { hasExactBytes } from './exact-bytes.ts'

/** The precision that a choice comes to on this machine: `auto` is `int8` on a processor whose products of bytes are exact. */
export async function chosenPrecision(choice: PrecisionChoice, device: Device): Promise<Precision> {
  if (choice !== 'auto') return choice
  return device === 'cpu' && (await hasExactBytes()) ? 'int8' : 'float32'
}
