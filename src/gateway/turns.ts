export { turns, weightOf } from '../core/index.ts'
