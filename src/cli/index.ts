export { LearnConfig } from '../recipe/index.ts'
