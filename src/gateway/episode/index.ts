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
export { type EpisodeRecorderOptions, episodeRecorder, type ForgetfulRecorder } from './recorder.ts'
export { pseudonymOf, type Redacted, type Redaction, redactionOf } from './redaction/index.ts'
