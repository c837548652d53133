export {
  Activation,
  type ModelWeights,
  Rope,
  RopeScaling,
  SlidingLayers,
  TransformerConfig,
} from './config.ts'
export { type Projection, names, projections, projectionShape, weightShapes } from './weights.ts'
