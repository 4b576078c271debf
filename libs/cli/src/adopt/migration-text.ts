import { writeFile } from 'node:fs/promises';
import { InputError } from '../input-error.js';

/** In backticks, whatever quotes are in it. */
export function template(sql: string): string {
  return `\`${sql.replace(/[\\`]|\$\{/g, '\\$&')}\``;
}

export function literal(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&').replaceAll('\n', '\\n').replaceAll('\r', '\\r')}'`;
}

/** A name must not end the comment that it stands in. */
export function comment(text: string): string {
  return text.replaceAll('*/', '* /').replace(/\s+/g, ' ');
}

/** The tables of a migration, for its name: all of four at most, else the first one and how many more. */
export function pascalOf([first, ...others]: readonly string[]): string {
  const more = others.length > 3 ? `${others.length}More` : others.map(pascal).join('');
  return `${pascal(first ?? '')}${more}`;
}

export function pascal(name: string): string {
  return name
    .split(/[^A-Za-z0-9]+/)
    .map((part) => part.charAt(0).toUpperCase() + part.slice(1))
    .join('');
}

/** Writes a file that is not there yet. @throws InputError when it is, or cannot be written */
export async function writeNew(file: string, text: string): Promise<void> {
  try {
    await writeFile(file, text, { flag: 'wx' });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new InputError(`--write ${file}: ${code === 'EEXIST' ? 'the file is there already' : String(code)}`);
  }
}
