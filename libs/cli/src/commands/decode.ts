import type { Layout } from '@raindrop/core';
import { DEFAULT_LAYOUT } from '@raindrop/core/internal';
import { layoutReader, recognizingReader, type Reader } from '../decoding/readers.js';
import { describeId, lineOfId, linesOfId, type DecodedId } from '../decoding/decoded-id.js';
import { idsOf } from '../decoding/next-document.js';
import { InputError } from '../input-error.js';
import { toJson, type CliOutput } from '../io/cli-output.js';
import { linesOf } from '../io/text.js';
import { layoutToRead, moduleOptions, namesLayout, refuseUnknown, type FlagValues } from '../options/module-options.js';

/** So many IDs are read and written at a time. */
const SLICE = 1_000;

/** So many wrong texts are named. */
const MOST_NAMED = 100;

/**
 * `raindrop decode`: takes IDs of any system apart. Without a layout it recognises the system, without `--format` the
 * form. With `--format` or `--original` and no layout the IDs are those of the default layout. On stdin there is an ID a line, or what `next --json` writes. Wrong texts are reported together at the end; the
 * others are shown.
 */
export async function decode(texts: readonly string[], flags: FlagValues, output: CliOutput): Promise<void> {
  const read = readerOf(flags);
  const isShort = flags['short'] === true;
  const slices =
    texts.length > 0 && texts.join() !== '-'
      ? [texts]
      : idsOf(linesOf(stdinOf(output), SLICE), SLICE, flags['format'] as string | undefined);
  const problems: string[] = [];
  let shown = 0;
  try {
    for await (const slice of slices) {
      const decoded = slice.flatMap((text) => {
        const found = read(text);
        if (typeof found !== 'string') return [describeId(found)];
        problems.push(found);
        return [];
      });
      if (decoded.length > 0)
        await output.write(output.isJson ? jsonOf(decoded, shown) : textOf(decoded, shown, output, isShort));
      shown += decoded.length;
    }
  } finally {
    // A result that ends early is one JSON document as well.
    if (output.isJson && shown > 0) output.finish('\n]\n');
  }
  if (problems.length > 0) throw new InputError('some IDs cannot be read:', shortened(problems));
  if (shown === 0) throw new InputError('no IDs: stdin is empty');
}

function readerOf(flags: FlagValues): Reader {
  const options = moduleOptions(flags);
  refuseUnknown(options);
  const format = flags['format'] as string | undefined;
  const isOriginal = flags['original'] === true;
  const layout: Layout | undefined = namesLayout(options) ? layoutToRead(options) : undefined;
  if (layout !== undefined) return layoutReader(layout, { format, isOriginal });
  if (format === undefined && !isOriginal) return recognizingReader();
  return layoutReader(DEFAULT_LAYOUT, { format, isOriginal });
}

function stdinOf({ stdin }: CliOutput): NodeJS.ReadableStream {
  if (stdin !== undefined && (stdin as Partial<NodeJS.ReadStream>).isTTY !== true) return stdin;
  throw new InputError(
    'no IDs: give them as arguments, or on stdin, one per line. Example: raindrop next | raindrop decode',
  );
}

function jsonOf(decoded: readonly DecodedId[], before: number): string {
  return decoded.map((each, index) => `${before + index === 0 ? '[' : ','}\n${toJson(each)}`).join('');
}

function textOf(decoded: readonly DecodedId[], before: number, output: CliOutput, isShort: boolean): string {
  const lines = isShort
    ? decoded.map((each) => lineOfId(each, output))
    : decoded.flatMap((each, index) => [...(before + index > 0 ? [''] : []), ...linesOfId(each, output)]);
  return `${lines.join('\n')}\n`;
}

function shortened(problems: readonly string[]): readonly string[] {
  const others = problems.length - MOST_NAMED;
  return others > 0 ? [...problems.slice(0, MOST_NAMED), `and ${others} more`] : problems;
}
