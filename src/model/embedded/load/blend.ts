import { InputError } from '../../../errors/index.ts'
import { toFloat32 } from './floats.ts'
import { readSafetensors, writeSafetensors } from './safetensors.ts'

/**
 * A step of a moving average over weights: each element is `kept` times the older one, and the rest of the newer. The
 * result is f32, and has the newer file's metadata.
 * @param kept within [0, 1].
 * @throws MalformedSafetensorsError for bytes that are no safetensors file.
 * @throws InputError (`model/other-tensors`) for files whose tensors differ in name or shape, and as {@link toFloat32} does.
 */
export function blendedWeights(older: Uint8Array, newer: Uint8Array, kept: number): Uint8Array {
  const [before, now] = [readSafetensors(older), readSafetensors(newer)]
  const tensors = [...now.tensors].map(([name, tensor]) => {
    const earlier = before.tensors.get(name)
    if (earlier?.shape.join() !== tensor.shape.join()) throw otherTensors(name)
    const [a, b] = [toFloat32(name, earlier), toFloat32(name, tensor)]
    return [name, { shape: tensor.shape, data: b.map((value, i) => kept * (a[i] ?? 0) + (1 - kept) * value) }] as const
  })
  const [extra] = [...before.tensors.keys()].filter((name) => !now.tensors.has(name))
  if (extra !== undefined) throw otherTensors(extra)
  return writeSafetensors(new Map(tensors), now.metadata)
}

const otherTensors = (name: string) =>
  new InputError({
    code: 'model/other-tensors',
    message: `Tensor ${JSON.stringify(name)} is not the same in both files.`,
    hint: 'Blend weights of one model, with one rank and the same targets.',
  })
