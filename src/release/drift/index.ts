export { type Drift, DriftState, type DriftStream, NOTHING_SEEN, watchFor } from './drift-detector.ts'
export {
  type DriftAlert,
  DriftConfig,
  DriftWatchState,
  NEW_WATCH,
  anotherRelease,
  type WatchedSession,
  watchSession,
} from './drift-watch.ts'
