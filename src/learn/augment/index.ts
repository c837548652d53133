export { Augmenter } from './augmenter.ts'
export { instructionOf } from './retell.ts'
