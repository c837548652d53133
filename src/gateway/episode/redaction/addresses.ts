import { isIPv6 } from 'node:net'
import { type Finder, matches } from './found.ts'

const localPart = /[\p{L}\p{M}\p{N}_%+-][\p{L}\p{M}\p{N}._%+'’-]{0,63}$/u
const domain = /^(?:[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}-]{0,61}[\p{L}\p{M}\p{N}])?\.){1,8}\p{L}[\p{L}\p{M}\p{N}-]{0,62}/u
/** Also as URLs and East Asian keyboards write it. */
const ats = /[@＠]|%40/g
const longestName = 64
const longestHost = 255

/** Electronic mail addresses, in any script. */
export const email: Finder = function* (text) {
  let from = 0
  for (const { index: at, 0: sign } of text.matchAll(ats)) {
    const after = at + sign.length
    const host = domain.exec(text.slice(after, after + longestHost))?.[0]
    if (host === undefined) continue
    const name = localPart.exec(text.slice(Math.max(from, at - longestName), at))?.[0]
    if (name === undefined) continue
    const end = after + host.length
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
