export { type Alike, alikeTo, asTold } from './alike.ts'
