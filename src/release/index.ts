export {
  CandidateError,
  InitialChangedError,
  NothingToRollBackToError,
  NotPromotedError,
  ReleaseError,
  SpentReceiptError,
  StaleReceiptError,
  UnknownAgentError,
  UnknownReleaseError,
} from './errors.ts'
export { type Promotion, Registry, type Serving } from './registry.ts'
