import { codecs } from '@raindrop/core';
import { InputError } from '../input-error.js';

/** The error of a `--format` that there is not. */
export function unknownFormat(format: string): InputError {
  return new InputError(`--format ${format} is not one; there are ${Object.keys(codecs).join(', ')}`);
}
