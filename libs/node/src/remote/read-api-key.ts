import type { OptionReader } from '@raindrop/core/internal';

/** Reads `apiKey`; its value is in no message. */
export function readApiKey(reader: OptionReader): string | undefined {
  const given = reader.value('apiKey');
  if (given === undefined) return undefined;
  if (typeof given === 'string' && /^[\x21-\x7e]{1,1024}$/.test(given)) return given;
  reader.problem(
    'apiKey',
    typeof given === 'string' ? '(hidden)' : given,
    'must be a text of 1 to 1,024 visible ASCII characters, without white space',
  );
  return undefined;
}
