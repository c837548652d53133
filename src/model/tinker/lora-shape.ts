import type { TrainingMethod } from '../../core/index.ts'
import { projections } from '../embedded/transformer/weights.ts'
import { unsupported } from './failures.ts'
import type { LoraShape } from './tinker-model.ts'

const head = 'lm_head'

/**
 * A training method in the words of `lora_config`: parts of the network stand for their projections. Without `targets` the
 * server's own choice holds.
 * @throws InputError `model/tinker-unsupported` for what is no LoRA, or is on a part of a part.
 */
export function loraShape(method: TrainingMethod, seed: number): LoraShape {
  if (method.kind === 'full') {
    throw unsupported('training of all weights.', 'Train a LoRA: { kind: "lora", rank, alpha }.')
  }
  if (method.kind === 'prompt') {
    throw unsupported('training of a soft prompt.', 'Train a LoRA, or take the embedded engine.')
  }
  const { rank, targets } = method
  if (!Number.isInteger(rank) || rank < 1) {
    throw unsupported(
      `a LoRA of rank ${rank}.`,
      'Give a rank of at least 1, and at most what the server was started with.',
    )
  }
  // Servers make 32-bit numbers of it.
  const shape = { rank, seed: Number(BigInt.asUintN(31, BigInt(seed))), parts: {} }
  if (targets === undefined) return shape
  const wanted = new Set(targets)
  const attention = projections.filter((name) => /^[qkvo]$/.test(name))
  const mlp = projections.filter((name) => !attention.includes(name))
  const whole = (names: readonly string[]) => names.every((name) => wanted.has(name))
  const parts = { train_attn: whole(attention), train_mlp: whole(mlp), train_unembed: wanted.has(head) }
  const covered = [...(parts.train_attn ? attention : []), ...(parts.train_mlp ? mlp : []), head]
  const rest = targets.filter((name) => !covered.includes(name))
  if (rest.length === 0) return { ...shape, parts }
  throw unsupported(
    `a LoRA on ${rest.join(', ')} alone.`,
    `Name all of ${attention.join(', ')}, all of ${mlp.join(', ')}, or both; or leave targets out.`,
  )
}
