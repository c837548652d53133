export { Augmenter } from './augmenter.ts'
export { instructionOf } from './retell.ts'
export { type Slipped, slipped } from './slips.ts'
