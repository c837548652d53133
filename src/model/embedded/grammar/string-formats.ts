/** The forms of JSON Schema's `format` to which a string can be held; `null` for others. */
export function stringFormat(name: string): string | null {
  return Object.hasOwn(formats, name) ? (formats[name] ?? null) : null
}

const days = '"0" [1-9] | [12] [0-9]'
const leapYear = '[0-9]{2} ("0" [48] | [2468] [048] | [13579] [26])'
const date = [
  `[0-9]{4} "-" (("0" [13578] | "1" [02]) "-" (${days} | "3" [01]) | ("0" [469] | "11") "-" (${days} | "30")`,
  `"02-" ("0" [1-9] | "1" [0-9] | "2" [0-8])) | ${leapYear} "-02-29"`,
].join(' | ')
const clock = '([01] [0-9] | "2" [0-3]) ":" [0-5] [0-9]'
const time = `${clock} ":" [0-5] [0-9] ("." [0-9]{1,9})? ("Z" | [+-] ${clock})`
const octet = '("25" [0-5] | "2" [0-4] [0-9] | "1" [0-9] [0-9] | [1-9] [0-9] | [0-9])'
const hex = (digits: number) => `[0-9a-f]{${digits}}`

const formats: Readonly<Record<string, string>> = {
  date,
  time,
  'date-time': `(${date}) "T" ${time}`,
  ipv4: `${octet} "." ${octet} "." ${octet} "." ${octet}`,
  uuid: `${hex(8)} "-" ${hex(4)} "-" ${hex(4)} "-" ${hex(4)} "-" ${hex(12)}`,
}
