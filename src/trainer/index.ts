export { type Door, openDoor, type Visitor } from './door.ts'
export { TrainerRequestError } from './errors.ts'
export type { ServedModel, TrainerLimits, TrainerOptions } from './options.ts'
export { type RunningTrainer, startTrainer, type StartTrainerOptions } from './start-trainer.ts'
