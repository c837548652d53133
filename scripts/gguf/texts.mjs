/** Texts in many scripts, with code, numbers, odd spaces and characters; then random mixtures of their characters. */
const written = [
  '',
  ' ',
  '\n',
  '  ',
  '   leading',
  'trailing   ',
  'a b',
  ' a',
  'Hello, world!',
  '\t\ttabs\t and\r\nCRLF\r\n',
  "I'm sure they'd've said \"it's\" 1234567890 times!",
  "don't DON'T we'LL I'D",
  '3.14159 1,000,000 12:34:56',
  'na\u00efve caf\u00e9 \u2014 \u03b1\u03b2\u03b3 \u0434\u0430 \u05d0 \u0639',
  'Ti\u1ebfng Vi\u1ec7t, \u0141\u00f3d\u017a, S\u00e3o Paulo',
  '\u6c5f\u5357\u6625\uff0c\u4f60\u597d\uff01',
  '\u3053\u3093\u306b\u3061\u306f\u4e16\u754c',
  '\uc548\ub155\ud558\uc138\uc694 \uc138\uacc4',
  '\u0928\u092e\u0938\u094d\u0924\u0947 \u0926\u0941\u0928\u093f\u092f\u093e',
  '\u0645\u0631\u062d\u0628\u0627 \u0628\u0627\u0644\u0639\u0627\u0644\u0645',
  '\u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35\u0e0a\u0e32\u0e27\u0e42\u0e25\u0e01',
  '\u{1F600}\u{1F468}\u200d\u{1F469}\u200d\u{1F467} emoji',
  '\u{20000} \u{1F1E9}\u{1F1EA}',
  'x\u0301e\u0301 decomposed',
  '\ufb01 \u00bd \u2122 \u00b2\u2080',
  'def f(x):\n    return x ** 2\n\n\nclass A:\n\tpass\n',
  'for (let i = 0; i < n; i++) { a[i] += 1 }',
  '{"a": [1, 2.5e-3, null]}',
  'https://example.org/a?b=c&d=%20e#f',
  '<div class="x">&amp;</div>',
  '______-----=====',
  '...!!!???',
  '\u0000\u0001\u007f',
  'A'.repeat(20),
  'ab'.repeat(20),
  ' '.repeat(17),
  '\n'.repeat(7),
  '   \n  \n x',
  'a\u00a0b\u2003c',
  '\u200b zero width \ufeff bom',
]

/** Park and Miller's generator: the same texts everywhere. */
let state = 7
const below = (limit) => {
  state = (state * 48_271) % 2_147_483_647
  return state % limit
}

const characters = written.flatMap((text) => Array.from(text))
const mixed = Array.from({ length: 200 }, () =>
  Array.from({ length: 1 + below(40) }, () => characters[below(characters.length)]).join(''),
)

export const texts = [...written, ...mixed]
