import { getQuickJS, type QuickJSContext, type QuickJSHandle, Scope } from 'quickjs-emscripten'
import type { Json } from '../../core/index.ts'
import type { SandboxEnd, SandboxRequest } from './outcome.ts'

/** QuickJS looks at its interrupt handler once in so many jumps and calls. */
const stepsPerLook = 10_000
const stackBytes = 512 * 1_024

/** Runs code in a QuickJS of its own, in this thread. One long native step is not interrupted: the thread's owner ends it. */
export async function evaluate({ code, call, steps, memoryBytes }: SandboxRequest): Promise<SandboxEnd> {
  const engine = await getQuickJS()
  return Scope.withScope((scope): SandboxEnd => {
    const runtime = scope.manage(engine.newRuntime())
    runtime.setMemoryLimit(memoryBytes)
    runtime.setMaxStackSize(stackBytes)
    let left = Math.ceil(steps / stepsPerLook)
    runtime.setInterruptHandler(() => left-- <= 0)
    const context = scope.manage(runtime.newContext())
    const ended = ending(context, () => left < 0)

    const defined = context.evalCode(code, 'code.js')
    if (defined.error) return ended(scope.manage(defined.error))
    const result = scope.manage(defined.value)
    if (call === null) return returned(context, result)

    const found = context.evalCode(call.name, 'call.js')
    if (found.error) return ended(scope.manage(found.error))
    const args = call.args.map((arg) => scope.manage(asHandle(context, arg)))
    const answer = context.callFunction(scope.manage(found.value), context.undefined, ...args)
    return answer.error ? ended(scope.manage(answer.error)) : returned(context, scope.manage(answer.value))
  })
}

/** An argument: JSON text is an expression, but for two line separators that older JavaScript does not know. */
function asHandle(context: QuickJSContext, value: Json): QuickJSHandle {
  return context.unwrapResult(context.evalCode(`(${JSON.stringify(value)})`, 'argument.js'))
}

/** A value as JSON text, which is made here: the code cannot take the place of how it is read. */
function returned(context: QuickJSContext, value: QuickJSHandle): SandboxEnd {
  // A function would be read as its text.
  if (context.typeof(value) === 'function') return { kind: 'returned', json: 'null' }
  try {
    return { kind: 'returned', json: JSON.stringify(context.dump(value)) ?? 'null' }
  } catch {
    return { kind: 'returned', json: 'null' }
  }
}

const ending =
  (context: QuickJSContext, spent: () => boolean) =>
  (error: QuickJSHandle): SandboxEnd => {
    if (spent()) return { kind: 'steps' }
    const thrown: unknown = context.dump(error)
    const message = typeof thrown === 'object' && thrown !== null && 'message' in thrown ? thrown.message : thrown
    return message === 'out of memory'
      ? { kind: 'memory' }
      : { kind: 'threw', message: String(message).slice(0, 1_000) }
  }
