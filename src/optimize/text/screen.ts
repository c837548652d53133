/** Words by which a text speaks to a model that reads it, in place of to whom it was written. */
const speaksToModel = [
  /\b(?:ignore|disregard|forget|override)\b.{0,40}\b(?:previous|prior|above|earlier|all|any|your)\b.{0,40}\b(?:instructions?|prompts?|rules?|guidelines?)\b/is,
  /\b(?:you are now|act as|pretend to be|from now on,? you)\b/i,
  /\b(?:system prompt|developer message|jailbreak)\b/i,
  /<\|?(?:im_start|im_end|system|endoftext)\|?>/i,
]

/**
 * Whether words from outside would instruct a model that reads them in its prompt (invariant 10). A screen for what is common:
 * what stands in a text as data is called data there as well.
 */
export const instructsModel = (text: string): boolean => speaksToModel.some((pattern) => pattern.test(text))
