/** What {@link isKeyText} accepts, in words. */
export const KEY_TEXT_RULE = (length: number): string =>
  `1 to ${length} characters, without control characters, without half surrogate pairs and without spaces at either end`;

/** Characters that not every database keeps. */
export const NOT_KEPT = /[\p{Cc}\p{Cs}]/u;

/** Whether every database keeps a text as it is, and tells it from every other: MySQL's texts end before their spaces. */
export function isKeyText(text: string, length: number): boolean {
  return text.length > 0 && text.length <= length && text === text.trim() && !NOT_KEPT.test(text);
}
