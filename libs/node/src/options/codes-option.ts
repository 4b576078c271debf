import type { OptionReader } from '@raindrop/core/internal';

/** A list of codes; undefined when none is given. */
export function readCodes(reader: OptionReader): readonly string[] | undefined {
  const given = reader.value('codes');
  const isCode = (each: unknown): boolean => typeof each === 'string' && each.length >= 1 && each.length <= 128;
  if (given === undefined || (Array.isArray(given) && given.every(isCode))) return given;
  reader.problem('codes', given, 'must be a list of texts of 1 to 128 characters');
  return [];
}
