import { RatchetError } from '../../../errors/index.ts'
import type { Device } from './device.ts'

/** A device was asked for, and ONNX Runtime multiplied matrices on the processor instead. */
export class DeviceNotUsedError extends RatchetError {
  /** @param operators what ran on the processor. */
  constructor(device: Device, operators: readonly string[]) {
    super({
      code: 'model/device-not-used',
      message: `The device "${device}" left matrix products to the processor: ${operators.join(', ')}.`,
      hint: 'Use the device "cpu", which is faster than both together, and report this with the name of your card.',
    })
  }
}
