import { canonicalJson, type Json } from '../../core/index.ts'
import { commonBetween, commonEnd, commonPath, commonStart } from './common-source.ts'
import type { Between, Expression } from './expression.ts'
import type { Instance } from './routines.ts'

/** What whoever calls a skill gives it. */
export interface Parameter {
  readonly name: string
  /** In each episode. */
  readonly values: readonly Json[]
  readonly fallback: Between | null
}

/** What many episodes' calls have in common. */
export interface Generalised {
  readonly calls: readonly { readonly name: string; readonly given: Expression }[]
  readonly parameters: readonly Parameter[]
}

const mostParameters = 6

/**
 * The least general routine that all instances are cases of (anti-unification, Plotkin 1970): arguments that are equal stay;
 * those that are found alike in earlier answers are taken from there; the rest becomes parameters, where the policy knew them
 * before the routine began: from the task, or from what was answered until then. `null` where it could not have known one.
 */
export function generalised(instances: readonly Instance[]): Generalised | null {
  const [first] = instances
  if (!first) return null
  const found = new Generalising(instances)
  const calls: { name: string; given: Expression }[] = []
  for (const [i, { name }] of first.calls.entries()) {
    const given = found.expression(
      instances.map(({ calls: of }) => of[i]?.arguments ?? {}),
      i,
      'value',
    )
    if (given === null || found.parameters.length > mostParameters) return null
    calls.push({ name, given })
  }
  return { calls, parameters: found.parameters }
}

class Generalising {
  readonly #instances: readonly Instance[]
  readonly parameters: Parameter[] = []

  constructor(instances: readonly Instance[]) {
    this.#instances = instances
  }

  /** @param values one of each instance. @param call whose argument they are. @param key what the argument is called. */
  expression(values: readonly Json[], call: number, key: string): Expression | null {
    const [first] = values
    if (first === undefined || key === '__proto__') return null
    if (values.every((value) => canonicalJson(value) === canonicalJson(first)))
      return { kind: 'constant', value: first }
    const objects = values.filter(isObject)
    if (objects.length === values.length && alike(objects.map((value) => Object.keys(value).toSorted()))) {
      return this.#object(objects, call)
    }
    const lists = values.filter((value): value is readonly Json[] => Array.isArray(value))
    if (lists.length === values.length && alike(lists.map(({ length }) => length))) return this.#array(lists, call, key)
    return this.#flow(values, call) ?? this.#affixed(values, call, key) ?? this.#parameter(values, call, key)
  }

  #object(values: readonly Readonly<Record<string, Json>>[], call: number): Expression | null {
    const entries: [string, Expression][] = []
    for (const key of Object.keys(values[0] ?? {})) {
      const of = this.expression(
        values.map((value) => value[key] ?? null),
        call,
        key,
      )
      if (of === null) return null
      entries.push([key, of])
    }
    return { kind: 'object', entries }
  }

  #array(values: readonly (readonly Json[])[], call: number, key: string): Expression | null {
    const items: Expression[] = []
    for (const i of (values[0] ?? []).keys()) {
      const of = this.expression(
        values.map((value) => value[i] ?? null),
        call,
        key,
      )
      if (of === null) return null
      items.push(of)
    }
    return { kind: 'array', items }
  }

  /** From the nearest earlier answer that holds it in the same place in every instance. */
  #flow(values: readonly Json[], call: number): Expression | null {
    for (let from = call - 1; from >= 0; from--) {
      const answers = this.#instances.map(({ calls }) => calls[from]?.content ?? '')
      const path = commonPath(answers, values)
      if (path) return { kind: 'path', from, ...path }
      const place = commonBetween(answers, values)
      if (place) return { kind: 'between', from, ...place }
    }
    return null
  }

  /** With the same words before and after it in every instance. */
  #affixed(values: readonly Json[], call: number, key: string): Expression | null {
    const texts = values.filter((value) => typeof value === 'string')
    if (texts.length < values.length) return null
    const prefix = upToWord(commonStart(texts))
    const rest = texts.map((text) => text.slice(prefix.length))
    const suffix = fromWord(commonEnd(rest))
    if (prefix === '' && suffix === '') return null
    const inner = rest.map((text) => text.slice(0, text.length - suffix.length))
    if (inner.some((text) => text === '')) return null
    const of = this.#flow(inner, call) ?? (this.#isKnown(values, call) ? null : this.#parameter(inner, call, key))
    return of === null ? null : { kind: 'affixed', prefix, of, suffix }
  }

  #parameter(values: readonly Json[], call: number, key: string): Expression | null {
    if (!this.#isKnown(values, call)) return null
    const same = this.parameters.find((one) => canonicalJson(one.values) === canonicalJson(values))
    if (same) return { kind: 'parameter', name: same.name, fallback: same.fallback }
    const place = commonBetween(
      this.#instances.map(({ cue }) => cue),
      values,
    )
    const fallback = place === null ? null : { from: 'task' as const, ...place }
    const name = this.#name(key)
    this.parameters.push({ name, values, fallback })
    return { kind: 'parameter', name, fallback }
  }

  /** Whether the policy knew these before the routine began. What the first call was given, it did. */
  #isKnown(values: readonly Json[], call: number): boolean {
    if (call === 0) return true
    return this.#instances.every(({ cue, before, calls }, i) => {
      const value = values[i]
      if (typeof value === 'object') return false
      const words = String(value).toLowerCase()
      const given = JSON.stringify(calls[0]?.arguments ?? {})
      return words !== '' && [cue, ...before, given].some((text) => text.toLowerCase().includes(words))
    })
  }

  #name(key: string): string {
    // Every object has a "constructor" and the like, given or not.
    const plain = /^[A-Za-z]\w{0,39}$/.test(key) && !(key in Object.prototype) ? key : 'value'
    const taken = new Set(this.parameters.map(({ name }) => name))
    for (let n = 2, name = plain; ; n++, name = `${plain}_${n}`) if (!taken.has(name)) return name
  }
}

const isObject = (value: Json): value is Readonly<Record<string, Json>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const alike = (values: readonly unknown[]) =>
  values.every((value) => JSON.stringify(value) === JSON.stringify(values[0]))

/** Without what may be a part of a word that goes on. */
const upToWord = (text: string) => text.replace(/[\p{L}\p{N}]+$/u, '')
const fromWord = (text: string) => text.replace(/^[\p{L}\p{N}]+/u, '')
