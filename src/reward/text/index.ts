export { editExtent, isEditOf } from './edit.ts'
export { endsInQuestion, holdsQuestion } from './question.ts'
export { isUnspaced, termsOf, textTokens, weigh } from './tokens.ts'
export { saysSomething, seen } from './visible.ts'
