export { type SignalRoutesOptions, signalRoutes } from './signal-routes.ts'
export { SignalInput, SignalsInput } from './signal-input.ts'
export { type TrajectoryRoutesOptions, trajectoryRoutes } from './trajectory-routes.ts'
