export * from './builder.ts'
export { gradients } from './gradients.ts'
export * from './ops/index.ts'
