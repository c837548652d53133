export { RedactionRule, ServeConfig, UpstreamConfig } from './config.ts'
export { GatewayError, type GatewayErrorDetails } from './errors.ts'
export type * from './ports.ts'
