export { linUcb, type LinUcbOptions } from './lin-ucb.ts'
export { reinforce, ReinforceOptions } from './reinforce.ts'
export { thompson } from './thompson.ts'
