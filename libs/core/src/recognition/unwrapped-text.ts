/** A text without what people copy along with an ID. */
export interface UnwrappedText {
  readonly text: string;
  /** The system that a link or a mention names. */
  readonly system?: string;
}

/** Where systems write their IDs; the first group is the ID. */
const PLACES: readonly (readonly [RegExp, string])[] = [
  [/^(?:https?:\/\/)?(?:www\.|mobile\.)?(?:twitter|x)\.com\/\w{1,30}\/status(?:es)?\/(\d{1,20})\b/, 'twitter'],
  [/^(?:https?:\/\/)?(?:\w+\.)?discord(?:app)?\.com\/channels\/(?:[@\w]+\/){0,2}(\d{1,20})\/?$/, 'discord'],
  [/^<(?:[@#!&]{1,2}|a?:\w{1,64}:|t:|id:)(\d{1,20})>$/, 'discord'],
  [/^(?:https?:\/\/)?(?:www\.)?instagram\.com\/(?:p|reel|tv)\/([\w-]{5,11})(?![\w-])/, 'instagram'],
  [/^https?:\/\/[\w.-]{3,100}\/@\w{1,30}(?:@[\w.-]{3,100})?\/(\d{15,20})\/?$/, 'mastodon'],
];

/** Takes the ID out of a link or a mention; else off go blanks, quotes, separators of a list, and a bigint's `n`. */
export function unwrapText(given: string): UnwrappedText {
  const trimmed = given.trim();
  for (const [place, system] of PLACES) {
    const text = place.exec(trimmed)?.[1];
    if (text !== undefined) return { text, system };
  }
  const bare = trimmed.replace(/^[\s"'`([]+|[\s"'`)\],;]+$/g, '');
  if (/^\d{1,3}(?:([_,.' ])\d{3})(?:\1\d{3})*$/.test(bare)) return { text: bare.replace(/\D/g, '') };
  return { text: /^\d+n$/.test(bare) ? bare.slice(0, -1) : bare };
}
