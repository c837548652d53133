import { readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { Tensor } from 'onnxruntime-node'
import { describe, expect, it } from 'vitest'
import { recorded, recordedModel } from '../../../../test/support/recorded.ts'
import { openEmbeddedEngine } from '../engine.ts'
import { GraphBuilder } from '../graph/index.ts'
import type { TransformerConfig } from '../transformer/config.ts'
import { DeviceUnavailableError } from './device-unavailable-error.ts'
import { Device } from './device.ts'
import { ProfiledSession } from './profiled-session.ts'

const product = () => {
  const graph = new GraphBuilder('product')
  const x = graph.input('x', 'float32', [2, 2])
  graph.output('y', graph.node('MatMul', [x, x], 'float32', [2, 2]))
  return graph.build()
}
const leftovers = () => readdirSync(tmpdir()).filter((name) => name.startsWith('ratchet-device-')).length

describe('a session on a device', () => {
  it('finds out at its first run that the products were left to the processor, and leaves no file', async () => {
    const before = leftovers()
    // ONNX Runtime takes this for a session of a device: only the profile tells.
    const session = await ProfiledSession.open(product(), 'cuda', { executionProviders: ['cpu'], logSeverityLevel: 3 })
    const feeds = { x: new Tensor('float32', Float32Array.of(1, 2, 3, 4), [2, 2]) }
    await expect(session.run(feeds)).rejects.toMatchObject({
      code: 'model/device-not-used',
      message: expect.stringContaining('MatMul') as string,
    })
    await session.release()
    expect(leftovers()).toBe(before)
  })

  it('knows its devices', () => {
    expect(Device.options.map((name) => Device.parse(name))).toEqual(['cpu', 'cuda', 'webgpu'])
    expect(Device.safeParse('gpu').success).toBe(false)
  })
})

describe('an error about a device', () => {
  it('says what is missing, and the command that installs it', () => {
    const error = new DeviceUnavailableError('cuda', new Error('Failed to load shared library\nmore'))
    expect(error).toMatchObject({
      code: 'model/device-unavailable',
      message: expect.stringMatching(/library$/) as string,
    })
    expect(error.hint).toMatch(/pip download .* onnxruntime-gpu==1\.30\.0 && unzip .*onnxruntime-node\/bin\/napi-v6/)
    expect(new DeviceUnavailableError('webgpu', 'none').hint).toContain('libvulkan1')
  })

  it('comes when equal bits are asked of another device than the processor', async () => {
    const { config } = recorded('llama') as { config: TransformerConfig }
    const opened = openEmbeddedEngine({
      model: recordedModel(config),
      decode: () => '',
      deterministic: true,
      device: 'cuda',
    })
    await expect(opened).rejects.toMatchObject({ code: 'model/device-not-deterministic' })
  })
})
