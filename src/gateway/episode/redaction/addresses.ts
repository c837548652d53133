import { isIPv6 } from 'node:net'
import { type Finder, matches } from './found.ts'

const localPart = /[\p{L}\p{N}._%+-]{1,64}$/u
const domain = /^(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,61}[\p{L}\p{N}])?\.){1,8}\p{L}[\p{L}\p{N}-]{0,62}/u
/** What stands on either side of an `@`, at most. */
const reach = 255

/** Electronic mail addresses, in any script. */
export const email: Finder = function* (text) {
  let from = 0
  for (let at = text.indexOf('@'); at !== -1; at = text.indexOf('@', at + 1)) {
    const name = localPart.exec(text.slice(Math.max(from, at - reach), at))?.[0]
    const host = domain.exec(text.slice(at + 1, at + 1 + reach))?.[0]
    if (name === undefined || host === undefined) continue
    const end = at + 1 + host.length
    yield { start: at - name.length, end }
    from = end
  }
}

const octet = '(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)'
const ipv4 = matches(new RegExp(`(?<![\\w.])(?:${octet}\\.){3}${octet}(?!\\w|\\.\\w)`, 'g'))

/** With a digit: `a::b` is an address to a machine and a name to a programmer. */
const ipv6: Finder = function* (text) {
  for (const { index, 0: run } of text.matchAll(/[\da-fA-F:.]+/g)) {
    const address = run.length > 64 ? '' : run.replace(/\.+$|(?<!:):$/, '')
    const alone = !/[\p{L}\p{N}_]/u.test(text.charAt(index - 1) + text.charAt(index + address.length))
    if (address.includes(':') && /\d/.test(address) && alone && isIPv6(address)) {
      yield { start: index, end: index + address.length }
    }
  }
}

/** Internet addresses, of both versions. */
export const ip: readonly Finder[] = [ipv6, ipv4]
