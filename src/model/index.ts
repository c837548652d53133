export { type EmbeddedModel, type EmbeddedModelOptions, openEmbeddedModel } from './open-embedded-model.ts'
export * from './chat/index.ts'
export * from './embedded/index.ts'
export * from './renderer/index.ts'
