export {
  type ModelUse,
  type PackagedFile,
  type PackagedModel,
  packagedModels,
  type PackagedPart,
} from './known-models.ts'
export type { Pulling } from './packaged.ts'
export type { Patience } from './patiently.ts'
export { PullError } from './pull-error.ts'
export { type Pulled, pullModel, type PullOptions } from './pull-model.ts'
