import { z } from 'zod'

/** How servers of one kind differ, where the protocol leaves it open or they do not keep to it. */
export interface ServerTraits {
  /**
   * How a server adds up the losses of a pass. `sum`: over tokens, as the hosted service. `sequence-mean`: each sequence
   * divided by the sum of its weights, and the gradient by the number of sequences since the last step.
   */
  readonly reduction: 'sum' | 'sequence-mean'
  /** Where samples are drawn from weights that go on training. `own-model`: only from another model that stays as it is. */
  readonly publishes: 'in-place' | 'own-model'
  /** Whether `grad_clip_norm` of an optimizer step is heeded. */
  readonly clipsGradients: boolean
  /** The factor by which the product of a LoRA pair is scaled is `loraAlpha / rank`; `null`: not told. */
  readonly loraAlpha: number | null
}

/** Servers whose source was read: SkyRL 0.4.0 for `skyrl-jax`, the official Python SDK 0.25.0 for `tinker`. */
export const ServerKind = z.enum(['tinker', 'skyrl-jax'])
export type ServerKind = z.infer<typeof ServerKind>

export const serverTraits: Readonly<Record<ServerKind, ServerTraits>> = {
  tinker: { reduction: 'sum', publishes: 'in-place', clipsGradients: true, loraAlpha: null },
  // backends/jax.py: `loss_for_lora`, `get_mean`, `load_sampler_weights` (which loads into the slot that is trained), and
  // the AdamParams of tinker/api.py.
  'skyrl-jax': { reduction: 'sequence-mean', publishes: 'own-model', clipsGradients: false, loraAlpha: 32 },
}
