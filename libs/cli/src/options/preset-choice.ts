import { presets, type Layout } from '@raindrop/core';
import { InputError } from '../input-error.js';
import { numberOf } from './option-flags.js';

/** `twitter`, or in a file also `{ name: 'tsid', nodeBits: 8 }`. */

/** @throws InputError for a name that is no preset; ConfigurationError for its options */
export function presetOf(choice: unknown, more: Readonly<Record<string, unknown>>): Layout {
  const { name, ...options } =
    typeof choice === 'object' && choice !== null ? (choice as Record<string, unknown>) : { name: choice };
  const names = Object.keys(presets);
  const found = names.find((each) => each.toLowerCase() === String(name).toLowerCase()) as
    keyof typeof presets | undefined;
  if (found === undefined) throw new InputError(`--preset ${String(name)} is not one; there are ${names.join(', ')}`);
  const make = presets[found] as (options: object) => Layout;
  return make({ ...options, ...more });
}

/** `nodeBits=8` and the like. @throws InputError for what has no name or no value */
export function presetOptionsOf(texts: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(
    texts.map((text) => {
      const match = /^(\w+)=(.+)$/.exec(text);
      if (match === null) throw new InputError(`--preset-option ${text} must be name=value, such as nodeBits=8`);
      return [match[1]!, numberOf(match[2]!)];
    }),
  );
}
