import { z } from 'zod'
import type { TransformerConfig } from '../transformer/config.ts'
import { describedBy, descriptionIn } from '../load/description.ts'
import { toFloat32 } from '../load/floats.ts'
import { type Safetensors, readSafetensors, writeSafetensors } from '../load/safetensors.ts'
import { type AdapterWeights, LoraConfig, loraShapes } from './lora.ts'
import { StateMismatchError } from './state-mismatch-error.ts'

const AdapterMetadata = z.strictObject({ kind: z.literal('adapter'), lora: LoraConfig })

/** The bytes of an adapter: a value of a `weights` Parameter. Equal adapters give equal bytes. */
export function writeAdapter(config: TransformerConfig, { rank, alpha, targets, tensors }: AdapterWeights): Uint8Array {
  const lora = { rank, alpha, targets }
  return writeTensors(loraShapes(config, lora), tensors, { kind: 'adapter', lora })
}

/**
 * Reads an adapter for a model of this shape.
 * @throws MalformedSafetensorsError when the bytes are not safetensors.
 * @throws StateMismatchError when they are not an adapter, one for another model, or hold what is not a number.
 */
export function readAdapter(config: TransformerConfig, bytes: Uint8Array): AdapterWeights {
  const file = readSafetensors(bytes)
  const { lora } = readMetadata(file, AdapterMetadata, 'an adapter')
  return { ...lora, tensors: finite(readTensors(file, loraShapes(config, lora))) }
}

/** The file's own description of itself. @throws StateMismatchError when it is not what the schema says. */
export function readMetadata<T>(file: Safetensors, schema: z.ZodType<T>, what: string): T {
  const description = descriptionIn(file)
  if (description === undefined) throw new StateMismatchError(`it is not ${what}: its metadata does not say what it is`)
  const parsed = schema.safeParse(description)
  if (!parsed.success) throw new StateMismatchError(`it is not ${what}: ${z.prettifyError(parsed.error)}`)
  return parsed.data
}

/** The tensors of these names and shapes, in their order, as the bytes of a file that describes itself. */
export function writeTensors(
  shapes: ReadonlyMap<string, readonly number[]>,
  tensors: ReadonlyMap<string, Float32Array>,
  description: object,
): Uint8Array {
  const entries = [...shapes].map(
    ([name, shape]) => [name, { shape, data: tensors.get(name) ?? new Float32Array() }] as const,
  )
  return writeSafetensors(new Map(entries), describedBy(description))
}

/** The tensors of the expected names and shapes, and no others. */
export function readTensors(
  { tensors }: Safetensors,
  shapes: ReadonlyMap<string, readonly number[]>,
): Map<string, Float32Array> {
  const found = new Map<string, Float32Array>()
  for (const [name, shape] of shapes) {
    const tensor = tensors.get(name)
    if (tensor === undefined) throw new StateMismatchError(`tensor ${name} is missing`)
    if (tensor.shape.join() !== shape.join()) {
      throw new StateMismatchError(
        `tensor ${name} is [${tensor.shape.join(', ')}], and the model needs [${shape.join(', ')}]`,
      )
    }
    found.set(name, toFloat32(name, tensor))
  }
  for (const name of tensors.keys()) {
    if (!shapes.has(name)) throw new StateMismatchError(`tensor ${name} does not belong to the model`)
  }
  return found
}

/** The same tensors. @throws StateMismatchError when one holds what is not a number: all that is sampled with it would be none. */
export function finite(tensors: Map<string, Float32Array>): Map<string, Float32Array> {
  for (const [name, values] of tensors) {
    const bad = values.findIndex((value) => !Number.isFinite(value))
    if (bad >= 0) throw new StateMismatchError(`tensor ${name} holds ${values[bad]} at element ${bad}`)
  }
  return tensors
}
