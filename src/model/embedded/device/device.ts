import { z } from 'zod'
import type { GraphOptions } from '../graph/index.ts'

/** Where the engine's matrices are multiplied: the processor, an NVIDIA card, or any card that Vulkan, Metal or D3D12 drive. */
export const Device = z.enum(['cpu', 'cuda', 'webgpu'])
export type Device = z.infer<typeof Device>

/** How a graph must be built to run on a device. */
export function graphOptions(device: Device = 'cpu'): GraphOptions {
  return { fusedProducts: device !== 'webgpu' }
}
