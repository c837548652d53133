export { type ImplicitOptions, implicitSignals } from './implicit-signals.ts'
export { allImplicitKinds, ImplicitKind, implicitKinds } from './kinds.ts'
