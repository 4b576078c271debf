import { readFileSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { InputError } from '../input-error.js';

const MOST_BYTES = 2 ** 20;

/**
 * The options that a file holds: JSON, or a CommonJS or ES module whose default export (or itself) is the object.
 * @throws InputError when there is none; nothing of the file's text is in the message
 */
export function readConfigFile(path: string): Readonly<Record<string, unknown>> {
  const file = resolve(path);
  demandFile(file);
  const loaded = load(file);
  const options = isObject(loaded) && isObject(loaded['default']) ? loaded['default'] : loaded;
  if (!isObject(options)) {
    throw new InputError(
      `--config ${path} must contain an object with the module's options, as JSON or as the export of a module`,
    );
  }
  return options;
}

const REASONS: Readonly<Record<string, string>> = {
  MODULE_NOT_FOUND: 'the file, or a module that it imports, does not exist',
  ENOENT: 'the file, or a module that it imports, does not exist',
  ERR_REQUIRE_ASYNC_MODULE: 'it uses top-level await',
};

/** The command would block in opening a pipe without a writer, and would not react to SIGTERM. @throws InputError */
function demandFile(file: string): void {
  const stats = statSync(file, { throwIfNoEntry: false });
  // A module is found without its ending, and in a folder as well; `load` names what is not there.
  if (stats === undefined || stats.isDirectory()) return;
  if (!stats.isFile()) {
    const cure = 'write the options to a file that ends in .json, .cjs or .mjs';
    throw new InputError(`--config ${file} is a pipe or a device: ${cure}`);
  }
  if (stats.size > MOST_BYTES) throw new InputError(`--config ${file} is larger than 1 MiB`);
}

function load(file: string): unknown {
  try {
    return createRequire(file)(file) as unknown;
  } catch (error) {
    const { code, name } = error as NodeJS.ErrnoException;
    // A parser quotes what it cannot read, and that may be a password.
    const why = code === undefined ? `${name}${placeIn(file)}` : (REASONS[code] ?? code);
    throw new InputError(`--config ${file} cannot be read: ${why}`);
  }
}

/** Where a JSON file is wrong; nothing of what stands there. */
function placeIn(file: string): string {
  if (!file.endsWith('.json')) return '';
  const place = jsonFault(readFileSync(file, 'utf8').replace(/^\uFEFF/, ''));
  return place === undefined ? '' : ` at line ${place.line}, column ${place.column}`;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A place in a text; both count from 1. */
interface TextPlace {
  readonly line: number;
  readonly column: number;
}

/**
 * Where a text stops being JSON; undefined when it is JSON. What the parser says has a position in some cases only, and
 * quotes the text in others.
 */
export function jsonFault(text: string): TextPlace | undefined {
  if (canGoOn(text) === 'whole') return undefined;
  // What begins like JSON does so with each of its characters: the first that does not is found by halving.
  let good = 0;
  let bad = text.length + 1;
  while (bad - good > 1) {
    const middle = (good + bad) >> 1;
    if (canGoOn(text.slice(0, middle)) === 'no') bad = middle;
    else good = middle;
  }
  const before = text.slice(0, good).split('\n');
  return { line: before.length, column: before.at(-1)!.length + 1 };
}

/** Whether a text is JSON, or the beginning of some. */
function canGoOn(text: string): 'whole' | 'begun' | 'no' {
  try {
    JSON.parse(text);
    return 'whole';
  } catch (error) {
    const { message } = error as SyntaxError;
    const position = /at position (\d+)/.exec(message)?.[1];
    const isAtEnd = position === undefined ? message.includes('end of JSON') : Number(position) >= text.length;
    return isAtEnd ? 'begun' : 'no';
  }
}
