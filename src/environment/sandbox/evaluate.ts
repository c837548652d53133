import { type QuickJSContext, type QuickJSHandle, Scope } from 'quickjs-emscripten'
import { type Engine, newEngine } from './engine.ts'
import type { SandboxEnd, SandboxRequest } from './outcome.ts'

/** QuickJS looks at its interrupt handler once in so many jumps and calls. */
const stepsPerLook = 10_000
const stackBytes = 512 * 1_024

/** What the code asks with, and what it gets, as JSON text. */
export type Asks = (json: string) => string

/** This thread's: code after code runs in it, as long as they have the same cap. */
let engine: { readonly memoryBytes: number; readonly made: Promise<Engine> } | null = null

function engineOf(memoryBytes: number): Promise<Engine> {
  if (engine?.memoryBytes !== memoryBytes) engine = { memoryBytes, made: newEngine(memoryBytes) }
  return engine.made
}

/**
 * Runs code in a QuickJS runtime of its own, in this thread. One long native step is not interrupted: the thread's owner ends it.
 * @param asks what the function `host` does, where the request says that there is one.
 */
export async function evaluate(
  { code, call, steps, memoryBytes, host }: SandboxRequest,
  asks: Asks,
): Promise<SandboxEnd> {
  const { quickJs, isFull } = await engineOf(memoryBytes)
  let end: SandboxEnd | null = null
  try {
    Scope.withScope((scope) => {
      end = run(scope)
    })
  } catch (error) {
    // QuickJS that ran out of memory may fail to free what it has, even where the code went on. Its thread is not used again.
    if (end === null) throw error
    return { kind: 'memory' }
  }
  return end ?? { kind: 'memory' }

  function run(scope: Scope): SandboxEnd {
    const runtime = scope.manage(quickJs.newRuntime())
    runtime.setMemoryLimit(memoryBytes)
    runtime.setMaxStackSize(stackBytes)
    let left = Math.ceil(steps / stepsPerLook)
    runtime.setInterruptHandler(() => left-- <= 0)
    const context = scope.manage(runtime.newContext())
    const ended = ending(context, { isSpent: () => left < 0, isFull })
    // Taken before the code runs, which may put something else in its place.
    const parse = scope.manage(context.unwrapResult(context.evalCode('JSON.parse', 'parse.js')))
    const valueOf = (json: string) => parsedIn(context, parse, json)
    if (host) {
      const ask = scope.manage(context.newFunction('host', (given) => valueOf(asks(jsonOf(context, given)))))
      context.setProp(context.global, 'host', ask)
    }

    const defined = context.evalCode(code, 'code.js')
    if (defined.error) return ended(scope.manage(defined.error))
    const result = scope.manage(defined.value)
    if (call === null) return returned(context, result)

    const found = context.evalCode(call.name, 'call.js')
    if (found.error) return ended(scope.manage(found.error))
    const args: QuickJSHandle[] = []
    for (const arg of call.args) {
      const value = valueOf(JSON.stringify(arg))
      if (value.error) return ended(scope.manage(value.error))
      args.push(scope.manage(value.value))
    }
    const answer = context.callFunction(scope.manage(found.value), context.undefined, ...args)
    return answer.error ? ended(scope.manage(answer.error)) : returned(context, scope.manage(answer.value))
  }
}

/** A value that JSON text holds, as JSON says and not as an expression would: "__proto__" is a key like any other. */
function parsedIn(context: QuickJSContext, parse: QuickJSHandle, json: string) {
  // The text becomes a string by being evaluated as one: so too little memory is an error of the code, and no end of the engine.
  const text = context.evalCode(JSON.stringify(json), 'argument.js')
  if (text.error) return text
  const value = context.callFunction(parse, context.undefined, text.value)
  text.value.dispose()
  return value
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
  (context: QuickJSContext, { isSpent, isFull }: Pick<Engine, 'isFull'> & { readonly isSpent: () => boolean }) =>
  (error: QuickJSHandle): SandboxEnd => {
    if (isSpent()) return { kind: 'steps' }
    const thrown: unknown = context.dump(error)
    const message = typeof thrown === 'object' && thrown !== null && 'message' in thrown ? thrown.message : thrown
    // With no memory left there may be none for the error either.
    return message === 'out of memory' || (!message && isFull())
      ? { kind: 'memory' }
      : { kind: 'threw', message: String(message).slice(0, 1_000) }
  }
