import { writeFile } from 'node:fs/promises';
import { InputError } from '../input-error.js';

/** Writes a file that is not there yet. @throws InputError when it is, or cannot be written */
export async function writeNew(file: string, text: string): Promise<void> {
  try {
    await writeFile(file, text, { flag: 'wx' });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new InputError(`--write ${file}: ${code === 'EEXIST' ? 'the file is there already' : String(code)}`);
  }
}
