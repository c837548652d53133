export * from './desk/index.ts'
export { call, type Check, type Play, type Policy, play, type Score, scorePolicy } from './play.ts'
export * from './search/index.ts'
