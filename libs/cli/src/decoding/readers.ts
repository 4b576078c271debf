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

/** An ID that was read, and how. */
export interface ReadId {
  readonly parsed: ParsedId;
  readonly layout: Layout;
  /** How it is written; undefined where that was given. */
  readonly form?: string;
  /** Who may have issued it, from the most plausible down; undefined where a layout was given. */
  readonly readings?: readonly IdReading[];
}

/** What a text says, or why it says nothing. */
export type Reader = (text: string) => ReadId | string;

/** How the IDs of a given layout are written. */
interface ReaderOptions {
  readonly format: string | undefined;
  /** Whether the IDs are of KeyWorker's own epoch. */
  readonly isOriginal: boolean;
}

/**
 * Reads IDs of one layout, in the form that is named or in any.
 * @throws InputError for a format that is none
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

/** Reads IDs of any known system. */
export function recognizingReader(): Reader {
  return (given) => {
    const { text, readings, foreign } = recognizeId(given);
    const [best] = readings;
    if (best !== undefined && (foreign === undefined || best.plausibility !== 'unlikely')) {
      return { parsed: best.parsed, layout: best.layout, form: best.form, readings };
    }
    if (foreign === undefined) return `${showValue(text)} is no ID of a known system`;
    const time = foreign.time === undefined ? '' : `, ${foreign.time.toISOString()}`;
    return `${showValue(text)} is no snowflake: ${foreign.title}${time}`;
  };
}

/** Texts as decimal; an unsigned ID of 64 bits has no other form. */
function decimalOf(text: string, format = 'decimal'): string {
  return format !== 'decimal' && isCodecName(format) ? codecs[format].decode(text).toString() : text;
}

function readingKeyWorker({ fingerprint }: Layout): (text: string) => ParsedId {
  if (fingerprint !== presets.keyWorker().fingerprint) throw new InputError('--original is for --preset keyWorker');
  return parseKeyWorkerId;
}

function said(read: () => ReadId): ReadId | string {
  try {
    return read();
  } catch (error) {
    // Also a time that no Date can hold.
    if (error instanceof RaindropError) return error.message;
    throw error;
  }
}

/** The error of a `--format` that there is not. */
export function unknownFormat(format: string): InputError {
  return new InputError(`--format ${format} is not one; there are ${Object.keys(codecs).join(', ')}`);
}
