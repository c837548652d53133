export { assertMayServe, doorkeeper, isLoopback, type KeyDoorkeeper, newKey, type NewKeyOptions } from './auth/index.ts'
export {
  type DeclaredAgent,
  declareAgents,
  declaredMemory,
  embedderOf,
  prepareReleases,
  prepareVersions,
  type PrepareVersions,
  memoryParameter,
  toolParameter,
} from './agents/index.ts'
export { AgentConfig, drawsTokens, RedactionRule, ServeConfig, UpstreamConfig } from './config.ts'
export { bodySpace, createGateway, type Gateway, type GatewayOptions, type RouteApp } from './create-gateway.ts'
export { eraseSubject, mostTextCharacters, type Tried, tryByHand, TryRequest } from './admin/index.ts'
export { readResponseId, responseIdOf, trajectoryOfSession } from './episode/ids.ts'
export { GatewayError, type GatewayErrorDetails } from './errors.ts'
export type { Log } from './log.ts'
export {
  type Check,
  gatewayLogger,
  gatewayTelemetry,
  type GatewayTelemetry,
} from './observe/index.ts'
export type * from './ports.ts'
export { ratchetRoutes, type RatchetRoutesOptions } from './ratchet-routes.ts'
export { type RunningGateway, startGateway, type StartOptions } from './start-gateway.ts'
export { serve, type Listening, type ServeOptions } from './serve.ts'
