export { Augmenter, wordedShare } from './augmenter.ts'
export { instructionOf } from './retell.ts'
