import { getQuickJS, type QuickJSContext, type QuickJSHandle, Scope } from 'quickjs-emscripten'
import type { SandboxEnd, SandboxRequest } from './outcome.ts'

/** QuickJS looks at its interrupt handler once in so many jumps and calls. */
const stepsPerLook = 10_000
const stackBytes = 512 * 1_024

/** What the code asks with, and what it gets, as JSON text. */
export type Asks = (json: string) => string

/**
 * Runs code in a QuickJS of its own, in this thread. One long native step is not interrupted: the thread's owner ends it.
 * @param asks what the function `host` does, where the request says that there is one.
 */
export async function evaluate(
  { code, call, steps, memoryBytes, host }: SandboxRequest,
  asks: Asks,
): Promise<SandboxEnd> {
  const engine = await getQuickJS()
  return Scope.withScope((scope): SandboxEnd => {
    const runtime = scope.manage(engine.newRuntime())
    runtime.setMemoryLimit(memoryBytes)
    runtime.setMaxStackSize(stackBytes)
    let left = Math.ceil(steps / stepsPerLook)
    runtime.setInterruptHandler(() => left-- <= 0)
    const context = scope.manage(runtime.newContext())
    const ended = ending(context, () => left < 0)
    if (host) {
      const ask = scope.manage(context.newFunction('host', (given) => asHandle(context, asks(jsonOf(context, given)))))
      context.setProp(context.global, 'host', ask)
    }

    const defined = context.evalCode(code, 'code.js')
    if (defined.error) return ended(scope.manage(defined.error))
    const result = scope.manage(defined.value)
    if (call === null) return returned(context, result)

    const found = context.evalCode(call.name, 'call.js')
    if (found.error) return ended(scope.manage(found.error))
    const args = call.args.map((arg) => scope.manage(asHandle(context, JSON.stringify(arg))))
    const answer = context.callFunction(scope.manage(found.value), context.undefined, ...args)
    return answer.error ? ended(scope.manage(answer.error)) : returned(context, scope.manage(answer.value))
  })
}

/** A value that JSON text holds: it is an expression, but for two line separators that older JavaScript does not know. */
function asHandle(context: QuickJSContext, json: string): QuickJSHandle {
  return context.unwrapResult(context.evalCode(`(${json})`, 'argument.js'))
}

const returned = (context: QuickJSContext, value: QuickJSHandle): SandboxEnd => ({
  kind: 'returned',
  json: jsonOf(context, value),
})

/** A value as JSON text, which is made here: the code cannot take the place of how it is read. */
function jsonOf(context: QuickJSContext, value: QuickJSHandle): string {
  // A function would be read as its text.
  if (context.typeof(value) === 'function') return 'null'
  try {
    return JSON.stringify(context.dump(value)) ?? 'null'
  } catch {
    return 'null'
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
