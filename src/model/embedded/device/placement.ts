import { z } from 'zod'
import type { Device } from './device.ts'
import { DeviceNotUsedError } from './device-not-used-error.ts'

/** ONNX Runtime's profile: one event for each node that ran, among others. */
const Profile = z.array(
  z.object({
    cat: z.string(),
    args: z
      .object({
        op_name: z.string().optional(),
        provider: z.string().optional(),
        output_type_shape: z.array(z.record(z.string(), z.array(z.number()))).optional(),
      })
      .optional(),
  }),
)

/** Which operators one run executed where, with how often. */
export interface Placement {
  readonly onDevice: ReadonlyMap<string, number>
  /** Operators that computed floats on the processor. The arithmetic of shapes belongs there, and is not counted. */
  readonly onProcessor: ReadonlyMap<string, number>
}

/** Reads a profile of one run. @throws ZodError or SyntaxError when it is none. */
export function placementOf(profile: string): Placement {
  const onDevice = new Map<string, number>()
  const onProcessor = new Map<string, number>()
  for (const { cat, args } of Profile.parse(JSON.parse(profile))) {
    const operator = args?.op_name
    if (cat !== 'Node' || operator === undefined || args?.provider === undefined) continue
    const processor = args.provider === 'CPUExecutionProvider'
    const floats = (args.output_type_shape ?? []).some((output) => 'float' in output)
    if (processor && !floats) continue
    const counted = processor ? onProcessor : onDevice
    counted.set(operator, (counted.get(operator) ?? 0) + 1)
  }
  return { onDevice, onProcessor }
}

const products = ['MatMul', 'Gemm', 'FusedMatMul']

/**
 * ONNX Runtime gives what a device cannot do to the processor, and says nothing.
 * @returns the operators that ran on the processor although they compute floats: slow, and right.
 * @throws DeviceNotUsedError when matrix products are among them, or nothing ran on the device.
 */
export function checkPlacement(device: Device, { onDevice, onProcessor }: Placement): readonly string[] {
  const missed = [...onProcessor.keys()]
  const fallen = missed.filter((operator) => products.includes(operator))
  if (fallen.length > 0 || onDevice.size === 0)
    throw new DeviceNotUsedError(device, fallen.length > 0 ? fallen : missed)
  return missed
}
