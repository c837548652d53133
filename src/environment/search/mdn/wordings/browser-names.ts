import type { Browser } from '../support.ts'

/** What people call the browsers. Documents and answers have the first of each only. Training never meets the held-out ones. */
export const browserNames: Readonly<Record<'seen' | 'heldOut', Readonly<Record<Browser, readonly string[]>>>> = {
  seen: {
    chrome: ['chrome', 'Chrome', 'Google Chrome', 'my Chrome', 'Chrome on a laptop', 'a copy of Chrome', 'our Chrome'],
    edge: ['edge', 'Edge', 'Microsoft Edge', 'my Edge', 'Edge on a laptop', 'a copy of Edge', 'our Edge'],
    firefox: [
      'firefox',
      'Firefox',
      'Mozilla Firefox',
      'my Firefox',
      'Firefox on a laptop',
      'a copy of Firefox',
      'our Firefox',
    ],
    opera: ['opera', 'Opera', 'my Opera', 'Opera on a laptop', 'a copy of Opera', 'our Opera'],
    safari: ['safari', 'Safari', 'Apple Safari', 'my Safari', 'Safari on a laptop', 'a copy of Safari', 'our Safari'],
  },
  heldOut: {
    chrome: ['the Chrome browser', 'desktop Chrome'],
    edge: ['the Edge browser', 'desktop Edge'],
    firefox: ['the Firefox browser', 'desktop Firefox'],
    opera: ['the Opera browser', 'desktop Opera'],
    safari: ['the Safari browser', 'desktop Safari'],
  },
}
