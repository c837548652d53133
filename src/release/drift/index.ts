export { type Drift, DriftState, type DriftStream, NOTHING_SEEN, watchFor } from './drift-detector.ts'
export {
  type DriftAlert,
  DriftConfig,
  DriftWatchState,
  NEW_WATCH,
  rewardsAnew,
  type WatchedSession,
  watchSession,
} from './drift-watch.ts'
