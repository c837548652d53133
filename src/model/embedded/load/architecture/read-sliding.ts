import type { Rope, SlidingLayers } from '../../transformer/index.ts'
import { MalformedModelError } from '../malformed-model-error.ts'
import { UnsupportedModelError } from '../unsupported-model-error.ts'
import type { Family } from './families.ts'
import type { HuggingFaceConfig } from './hugging-face-config.ts'

const layerTypes = ['full_attention', 'sliding_attention']

/**
 * The layers that see a window only; null where there are none.
 * @throws UnsupportedModelError for a type of layer that is neither full nor sliding attention.
 * @throws MalformedModelError when `layer_types` or `sliding_window` does not fit.
 */
export function readSliding(config: HuggingFaceConfig, family: Family, rope: Rope | undefined): SlidingLayers | null {
  const { num_hidden_layers, sliding_window: window, layer_types } = config
  if (layer_types) checkLayerTypes(layer_types, num_hidden_layers)
  const slides = (layer: number) =>
    layer_types ? layer_types[layer] === 'sliding_attention' : family.slides(config, layer)
  const layers = Array.from({ length: num_hidden_layers }, (_, layer) => layer).filter(slides)
  if (layers.length === 0) return null
  if (typeof window !== 'number') {
    throw new MalformedModelError('config.json is not usable: it has sliding layers, and no sliding_window.')
  }
  return { window, layers, ...(rope && { rope }) }
}

function checkLayerTypes(types: readonly string[], layers: number): void {
  const unknown = types.find((type) => !layerTypes.includes(type))
  if (unknown !== undefined) throw new UnsupportedModelError('layer_types', unknown, layerTypes.join(' or '))
  if (types.length === layers) return
  throw new MalformedModelError(
    `config.json is not usable: layer_types has ${types.length} entries for ${layers} layers.`,
  )
}
