import { InputError } from '../../../errors/index.ts'
import type { Device } from './device.ts'

/** Results that are equal bit for bit were asked of a device that does not promise them. */
export class DeviceNotDeterministicError extends InputError {
  constructor(device: Device) {
    super({
      code: 'model/device-not-deterministic',
      message: `The device "${device}" does not repeat results bit for bit.`,
      hint: 'Use the device "cpu", or leave deterministic out.',
    })
  }
}
