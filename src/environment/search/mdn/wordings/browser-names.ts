import type { Browser } from '../support.ts'

/** What people call the browsers. Documents and answers have the first of each only. Training never meets the held-out ones. */
export const browserNames: Readonly<Record<'seen' | 'heldOut', Readonly<Record<Browser, readonly string[]>>>> = {
  seen: {
    chrome: ['chrome', 'Chrome', 'Google Chrome'],
    edge: ['edge', 'Edge', 'Microsoft Edge'],
    firefox: ['firefox', 'Firefox', 'Mozilla Firefox'],
    opera: ['opera', 'Opera'],
    safari: ['safari', 'Safari', 'Apple Safari'],
  },
  heldOut: {
    chrome: ['the Chrome browser', 'desktop Chrome'],
    edge: ['the Edge browser', 'desktop Edge'],
    firefox: ['the Firefox browser', 'desktop Firefox'],
    opera: ['the Opera browser', 'desktop Opera'],
    safari: ['the Safari browser', 'desktop Safari'],
  },
}
