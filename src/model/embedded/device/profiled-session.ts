import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { InferenceSession } from 'onnxruntime-node'
import type { Device } from './device.ts'
import { checkPlacement, placementOf } from './placement.ts'

/** A session whose first run is profiled, to see what ran on the device and what fell back to the processor. */
export class ProfiledSession {
  readonly #session: InferenceSession
  readonly #device: Device
  /** Where the profile is written until the first run has ended. */
  #folder: string | null

  private constructor(session: InferenceSession, device: Device, folder: string) {
    this.#session = session
    this.#device = device
    this.#folder = folder
  }

  static async open(
    graph: Uint8Array,
    device: Device,
    options: InferenceSession.SessionOptions,
  ): Promise<ProfiledSession> {
    const folder = await mkdtemp(join(tmpdir(), 'ratchet-device-'))
    try {
      const profiled = { ...options, enableProfiling: true, profileFilePrefix: join(folder, 'profile') }
      return new ProfiledSession(await InferenceSession.create(graph, profiled), device, folder)
    } catch (error) {
      await rm(folder, { recursive: true })
      throw error
    }
  }

  /**
   * As `InferenceSession.run`. Operators that compute floats on the processor are told as a warning of the process.
   * @throws DeviceNotUsedError at the first run, when matrix products were left to the processor.
   */
  async run(
    feeds: InferenceSession.OnnxValueMapType,
    fetches: readonly string[] = this.#session.outputNames,
  ): Promise<InferenceSession.ReturnType> {
    const outputs = await this.#session.run(feeds, fetches)
    if (this.#folder !== null) await this.#look(this.#folder)
    return outputs
  }

  async #look(folder: string): Promise<void> {
    this.#folder = null
    this.#session.endProfiling()
    try {
      const [file] = await readdir(folder)
      const profile = file === undefined ? '[]' : await readFile(join(folder, file), 'utf8')
      const missed = checkPlacement(this.#device, placementOf(profile))
      if (missed.length > 0) tell(this.#device, missed)
    } finally {
      await rm(folder, { recursive: true })
    }
  }

  async release(): Promise<void> {
    await this.#session.release()
    if (this.#folder !== null) await rm(this.#folder, { recursive: true })
  }
}

function tell(device: Device, operators: readonly string[]): void {
  process.emitWarning(`The device "${device}" left these operators to the processor: ${operators.join(', ')}.`, {
    code: 'RATCHET_DEVICE_FALLBACK',
  })
}
