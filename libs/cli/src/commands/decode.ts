import {
  codecs,
  parseId,
  parseKeyWorkerId,
  presets,
  RaindropError,
  planLayout,
  type Layout,
  type ParsedId,
  type PlannedField,
} from '@raindrop/core';
import { isCodecName } from '@raindrop/core/internal';
import { InputError } from '../input-error.js';
import type { CliOutput } from '../io/cli-output.js';
import { layoutToRead, moduleOptions, type FlagValues } from '../options/module-options.js';
import { bitPicture } from './bit-picture.js';

interface DecodedField extends PlannedField {
  readonly found: string;
  readonly binary: string;
}

interface Decoded {
  readonly id: string;
  readonly time: string;
  readonly tick: number;
  readonly workerId: number;
  readonly clockBack: number;
  readonly sequence: number;
  readonly endBits: number;
  readonly fields: readonly DecodedField[];
}

/** `raindrop decode`: what IDs say, whoever issued them. Wrong ones are reported together, and the others shown. */
export async function decode(texts: readonly string[], flags: FlagValues, output: CliOutput): Promise<void> {
  const layout = layoutToRead(moduleOptions(flags));
  const parse = flags['original'] === true ? readingKeyWorker(layout) : (text: string) => parseId(layout, text);
  const read = readerOf(flags['format'] as string | undefined);
  const problems: string[] = [];
  const decoded = texts.flatMap((text) => {
    try {
      const parsed = parse(read(text));
      return [describe(parsed, layout)];
    } catch (error) {
      // Also a time that no Date can hold.
      if (!(error instanceof RaindropError)) throw error;
      problems.push(error.message);
      return [];
    }
  });
  if (decoded.length > 0) {
    await output.result(decoded, () =>
      decoded.flatMap((each, index) => [...(index > 0 ? [''] : []), ...linesOf(each)]),
    );
  }
  if (problems.length > 0) throw new InputError('not every ID can be read:', problems);
}

/** Texts as decimal; an unsigned ID of 64 bits has no other form. */
function readerOf(format: string | undefined): (text: string) => string {
  if (format === undefined || format === 'decimal') return (text) => text;
  if (!isCodecName(format)) throw unknownFormat(format);
  return (text) => codecs[format].decode(text).toString();
}

export function unknownFormat(format: string): InputError {
  return new InputError(`--format ${format} is not one; there are ${Object.keys(codecs).join(', ')}`);
}

function readingKeyWorker({ fingerprint }: Layout): (text: string) => ParsedId {
  if (fingerprint !== presets.keyWorker().fingerprint) throw new InputError('--original is for --preset keyWorker');
  return parseKeyWorkerId;
}

function describe({ id, time, ...parts }: ParsedId, layout: Layout): Decoded {
  const { fields } = planLayout({ layout });
  return {
    id: id.toString(),
    time: time.toISOString(),
    ...parts,
    fields: fields.map((field) => {
      const found = (id >> BigInt(field.shift)) & ((1n << BigInt(field.bits)) - 1n);
      return { ...field, found: found.toString(), binary: found.toString(2).padStart(field.bits, '0') };
    }),
  };
}

function linesOf({ id, time, workerId, fields }: Decoded): string[] {
  const bits = fields.reduce((sum, field) => sum + field.bits, 0);
  const foundIn = (field: PlannedField): string => (field as DecodedField).found;
  return [
    `${id}  ${time}  worker ${workerId}`,
    ...bitPicture(fields, bits, foundIn),
    fields.map((each) => each.binary).join(' '),
  ];
}
