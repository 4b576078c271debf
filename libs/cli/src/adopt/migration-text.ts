import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { InputError } from '../input-error.js';

/** Writes SQL as a template literal: it may hold quotes of all kinds. */
export function template(sql: string): string {
  return `\`${sql.replace(/[\\`]|\$\{/g, '\\$&')}\``;
}

export function literal(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&').replaceAll('\n', '\\n').replaceAll('\r', '\\r')}'`;
}

/** Writes a name into a comment, so that it cannot end the comment. */
export function comment(text: string): string {
  return text.replaceAll('*/', '* /').replace(/\s+/g, ' ');
}

/** The tables of a migration, for its name: all, when they are at most four; else the first, and how many more. */
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

/** Writes a new file, with its folder. @throws InputError when the file exists already, or cannot be written */
export async function writeNew(file: string, text: string): Promise<void> {
  try {
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text, { flag: 'wx' });
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException;
    const isThere = code === 'EEXIST' && syscall === 'open';
    const why = isThere ? 'the file exists already' : `${String(syscall)} failed with ${String(code)}`;
    throw new InputError(`--write ${file}: ${why}`);
  }
}
