export { induce, type InduceOptions } from './induce.ts'
