export { mixed, type Mixed, MixedFinalState, type MixedWorld } from './mixed.ts'
export { MixedWorldError } from './mixed-world-error.ts'
export { MixedTaskData, type TaskInWorld } from './world-of-task.ts'
