export {
  answerNode,
  type FreshIds,
  freshCall,
  freshTrajectory,
  type NamedAnswer,
  randomIds,
  readResponseId,
  responseIdOf,
  trajectoryOfSession,
} from './ids.ts'
export { episodeRecorder } from './recorder.ts'
export type { EpisodeRecorderOptions, ForgetfulRecorder } from './recorder-options.ts'
export { pseudonymOf, type Redacted, type Redaction, redactionOf } from './redaction/index.ts'
