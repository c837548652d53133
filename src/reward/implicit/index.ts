export { type ImplicitOptions, implicitSignals } from './implicit-signals.ts'
export { allImplicitKinds, type ImplicitKind, implicitKinds } from './kinds.ts'
