import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { InputError } from '../../../errors/index.ts'
import type { Device } from './device.ts'

type Accelerator = Exclude<Device, 'cpu'>

/** The engine was to run on a device that this machine does not have, or whose libraries are not installed. */
export class DeviceUnavailableError extends InputError {
  /** @param cause what ONNX Runtime said. */
  constructor(device: Accelerator, cause: unknown) {
    super({
      code: 'model/device-unavailable',
      message: `The embedded engine cannot use the device "${device}": ${firstLine(cause)}`,
      hint: hints[device](),
      cause,
    })
  }
}

const hints = {
  cuda: () =>
    `Needed are Linux x64, CUDA 13, cuDNN 9 and ONNX Runtime's CUDA libraries. These come with:\n${cudaInstall()}\n` +
    'CUDA 12 has other ones, see docs/devices.md. Or leave the device out to use the CPU.',
  webgpu: () =>
    'Install the driver of your graphics card; on Linux also the Vulkan loader (Debian: apt-get install libvulkan1). ' +
    'Or leave the device out to use the CPU.',
}

/** The command that puts the CUDA libraries, which are too large for npm, beside the engine that is installed here. */
function cudaInstall(): string {
  const manifest = createRequire(import.meta.url).resolve('onnxruntime-node/package.json')
  const folder = join(dirname(manifest), 'bin/napi-v6/linux/x64')
  return (
    'pip download --no-deps --dest /tmp/ort onnxruntime-gpu==1.30.0 && ' +
    `unzip -j /tmp/ort/onnxruntime_gpu-*.whl '*/libonnxruntime_providers_*.so' -d ${folder}`
  )
}

function firstLine(cause: unknown): string {
  const text = cause instanceof Error ? cause.message : String(cause)
  return text.trim().split('\n')[0] ?? ''
}
