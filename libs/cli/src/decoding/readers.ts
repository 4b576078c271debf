import {
  codecs,
  type IdReading,
  type Layout,
  type ParsedId,
  parseId,
  parseKeyWorkerId,
  presets,
  RaindropError,
  recognizeId,
  showValue,
} from '@raindrop/core';
import { isCodecName } from '@raindrop/core/internal';
import { InputError } from '../input-error.js';

/** An ID that was read. */
export interface ReadId {
  readonly parsed: ParsedId;
  readonly layout: Layout;
  /** The form of the text; undefined where a flag names it. */
  readonly form?: string;
  /** The systems that may have issued it, the most plausible first; undefined where a layout was given. */
  readonly readings?: readonly IdReading[];
}

/** Reads a text; answers with the ID, or with the reason why the text is none. */
export type Reader = (text: string) => ReadId | string;

/** The form of the IDs of a given layout. */
interface ReaderOptions {
  readonly format: string | undefined;
  /** Whether the IDs count from KeyWorker's own epoch, in the year 2378. */
  readonly isOriginal: boolean;
}

/**
 * Makes a reader of IDs of one layout, in the named form or in any.
 * @throws InputError for an unknown format
 */
export function layoutReader(layout: Layout, { format, isOriginal }: ReaderOptions): Reader {
  const parse = isOriginal ? readingKeyWorker(layout) : (text: string) => parseId(layout, text);
  const strict = (text: string): ReadId | string => said(() => ({ parsed: parse(decimalOf(text, format)), layout }));
  if (format !== undefined || isOriginal) {
    if (format !== undefined && !isCodecName(format)) throw unknownFormat(format);
    return strict;
  }
  return (text) => {
    const own = recognizeId(text, { layout }).readings.find(({ system }) => system === 'own');
    return own === undefined ? strict(text) : { parsed: own.parsed, layout, form: own.form };
  };
}

/** Makes a reader of IDs of all known systems. */
export function recognizingReader(): Reader {
  return (given) => {
    const { text, readings, foreign } = recognizeId(given);
    const [best] = readings;
    if (best !== undefined && (foreign === undefined || best.plausibility !== 'unlikely')) {
      return { parsed: best.parsed, layout: best.layout, form: best.form, readings };
    }
    if (foreign === undefined) return `${showValue(text)} is not an ID of a known system`;
    const time = foreign.time === undefined ? '' : `, ${foreign.time.toISOString()}`;
    return `${showValue(text)} is not a snowflake: ${foreign.title}${time}`;
  };
}

/** Turns a text into decimal. Decimal texts stay: an unsigned ID of 64 bits is written in decimal only. */
export function decimalOf(text: string, format = 'decimal'): string {
  return format !== 'decimal' && isCodecName(format) ? codecs[format].decode(text).toString() : text;
}

function readingKeyWorker({ fingerprint }: Layout): (text: string) => ParsedId {
  if (fingerprint !== presets.keyWorker().fingerprint) throw new InputError('--original requires --preset keyWorker');
  return parseKeyWorkerId;
}

function said(read: () => ReadId): ReadId | string {
  try {
    return read();
  } catch (error) {
    // The error may also be a time that a Date cannot hold.
    if (error instanceof RaindropError) return error.message;
    throw error;
  }
}

/** The error for an unknown `--format`. */
export function unknownFormat(format: string): InputError {
  return new InputError(`--format ${format} is unknown: use one of ${Object.keys(codecs).join(', ')}`);
}
