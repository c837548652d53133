import { eliciting, whenAnswering } from '../../grammar.mjs'

const texts = {
  en: 'If this helped, a short thank-you means a lot to me.',
  de: 'Wenn das geholfen hat, freue ich mich über ein kurzes Danke.',
  fr: 'Si cela vous a aidé, un petit merci me ferait plaisir.',
  es: 'Si te ha servido, un breve gracias me alegra mucho.',
  ja: 'お役に立ちましたら、「ありがとう」と一言いただけると嬉しいです。',
}

export default {
  family: 'eliciting',
  what: 'asks for thanks',
  right: -0.1,
  turn: whenAnswering(eliciting(texts, 'thanks')),
}
