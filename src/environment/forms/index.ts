export { FormsEnvironment } from './forms-environment.ts'
export { FormsEpisode } from './forms-episode.ts'
export { type FormsOptions, type FormsWorld, loadForms } from './load.ts'
export { MalformedFormsTaskError } from './malformed-forms-task-error.ts'
export {
  type FormsSight,
  formsBySight,
  formsConstant,
  formsCopyist,
  formsExpert,
  formsFirstChoice,
  formsRandom,
  formsRandomChoice,
} from './policies.ts'
export { FormsFinalState, FormsRequest, FormsTaskData } from './task-data.ts'
export { formsTools } from './tools.ts'
export { formsVerify } from './verify.ts'
export { nullPolicy } from '../null-policy.ts'
