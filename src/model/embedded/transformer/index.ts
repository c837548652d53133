export { type ModelWeights, type Rope, type RopeScaling, type SlidingLayers, TransformerConfig } from './config.ts'
export type { Projection } from './projections.ts'
