export { UpstreamError } from './upstream-error.ts'
