import { InferenceSession } from 'onnxruntime-node'
import type { Device } from './device.ts'
import { DeviceUnavailableError } from './device-unavailable-error.ts'
import { keepToOurselves } from './keep-to-ourselves.ts'
import { ProfiledSession } from './profiled-session.ts'

/** A graph, ready to run. */
export interface Session {
  /** Runs the graph once; with `fetches`, for these outputs alone. */
  run(feeds: InferenceSession.OnnxValueMapType, fetches?: readonly string[]): Promise<InferenceSession.ReturnType>
  release(): Promise<void>
}

export interface SessionOptions {
  /** Default `cpu`. */
  readonly device?: Device
  /** ONNX Runtime threads inside one operator, of what runs on the processor. */
  readonly threads: number
}

/**
 * Readies a graph to run on a device. The first run on another device than the processor is looked at: see
 * {@link ProfiledSession}.
 * @param graph the bytes of an ONNX model.
 * @throws DeviceUnavailableError when the device cannot be used.
 */
export async function openSession(graph: Uint8Array, { device = 'cpu', threads }: SessionOptions): Promise<Session> {
  keepToOurselves()
  const options: InferenceSession.SessionOptions = {
    intraOpNumThreads: threads,
    interOpNumThreads: 1,
    executionMode: 'sequential',
    // Memory patterns are per shape, and shapes vary.
    enableMemPattern: false,
    logSeverityLevel: 3,
  }
  if (device === 'cpu') {
    const session = await InferenceSession.create(graph, options)
    return {
      run: (feeds, fetches = session.outputNames) => session.run(feeds, fetches),
      release: () => session.release(),
    }
  }
  try {
    return await ProfiledSession.open(graph, device, { ...options, executionProviders: [device] })
  } catch (error) {
    throw new DeviceUnavailableError(device, error)
  }
}
