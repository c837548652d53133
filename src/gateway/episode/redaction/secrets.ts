import { type Finder, matches } from './found.ts'

const beginning = /-----BEGIN [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g
const ending = /-----END [A-Z ]{0,40}-----/y

/** Private keys in PEM. One that is cut off, as in a half answer, is one too. */
const privateKey: Finder = function* (text) {
  let from = 0
  for (const { index } of text.matchAll(beginning)) {
    if (index < from) continue
    ending.lastIndex = text.indexOf('-----END ', index)
    from = ending.lastIndex !== -1 && ending.test(text) ? ending.lastIndex : text.length
    yield { start: index, end: from }
  }
}

const patterns: readonly RegExp[] = [
  // A JSON Web Token, whole or without its end.
  /(?<![\w-])eyJ[\w-]{8,}\.[\w-]*(?:\.[\w-]*){0,3}/g,
  // OpenAI, Anthropic, Stripe, and our own.
  /(?<![\w-])[sr]k[-_](?=[\w-]{0,64}\d)[\w-]{16,}/g,
  /(?<!\w)(?:AKIA|ASIA)[A-Z0-9]{16}(?!\w)/g,
  /(?<!\w)(?:gh[oprsu]_\w{30,}|github_pat_\w{22,}|glpat-[\w-]{20,}|npm_\w{30,}|hf_\w{30,}|pypi-[\w-]{30,})/g,
  /(?<!\w)(?:xox[abeoprs]-[\w-]{10,}|AIza[\w-]{30,}|ya29\.[\w-]{20,}|SG\.[\w-]{16,}\.[\w-]{16,}|r8_\w{30,})/g,
  // Groq, xAI, Perplexity, webhooks, DigitalOcean, Vault, Linear, Shopify, Sentry.
  /(?<![\w-])(?:gsk_|xai-|pplx-|whsec_|dop_v1_|hvs\.|lin_api_|shp(?:at|ca|pa|ss)_|sntrys_)[\w-]{16,}/g,
  // What follows the scheme in an Authorization header.
  /(?<=(?<!\w)(?:bearer|basic|token) {1,4})(?=[\w+./~-]{0,64}\d)[\w+./~-]{16,}={0,2}/gi,
  // Name and password in a URL: `scheme://user:password@`.
  /(?<=:\/\/)[^\s/:@]{1,256}:[^\s/@]{1,256}(?=@)/g,
]

/** API keys, tokens, passwords in URLs, private keys. */
export const secret: readonly Finder[] = [privateKey, ...patterns.map((pattern) => matches(pattern))]
