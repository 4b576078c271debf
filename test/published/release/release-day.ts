import { readDocument } from '../docs/typescript-blocks.js';

/** The README's command for the day of the release, which takes the packages from npm. */
export function releaseDayCommand(): string {
  const [, command] =
    /^\*\*On the day of the release\*\* [^]*?`(npm install [^`]+)`/m.exec(readDocument('README.md')) ?? [];
  if (command === undefined) throw new Error('README.md does not say what to install on the day of the release');
  return command;
}
