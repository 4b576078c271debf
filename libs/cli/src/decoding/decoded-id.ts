import { planLayout, type IdReading, type PlannedField } from '@raindrop/core';
import { bitPicture, coloured } from './bit-picture.js';
import type { CliOutput } from '../io/cli-output.js';
import type { ReadId } from './readers.js';

interface DecodedField extends PlannedField {
  readonly found: string;
  readonly binary: string;
}

type Guess = Pick<IdReading, 'system' | 'title' | 'plausibility' | 'reason'> & { readonly time: string };

/** What an ID holds, as `decode --json` writes it. */
export interface DecodedId {
  readonly id: string;
  readonly time: string;
  readonly tick: number;
  readonly workerId: number;
  readonly clockBack: number;
  readonly sequence: number;
  readonly endBits: number;
  /** How it is written; undefined where that was given. */
  readonly form: string | undefined;
  /** Who may have issued it, from the most plausible down; undefined where a layout was given. */
  readonly readings: readonly Guess[] | undefined;
  readonly fields: readonly DecodedField[];
}

/** So many other systems are named. */
const MOST_OTHERS = 3;

/** Takes an ID apart that was read. */
export function describeId({ parsed, layout, form, readings }: ReadId): DecodedId {
  const { id, time, ...parts } = parsed;
  const { fields } = planLayout({ layout });
  return {
    id: id.toString(),
    time: time.toISOString(),
    ...parts,
    form,
    readings: readings?.map(({ system, title, plausibility, reason, parsed: { time: at } }) => ({
      ...{ system, title, plausibility, reason, time: at.toISOString() },
    })),
    fields: fields.map((field) => {
      const found = (id >> BigInt(field.shift)) & ((1n << BigInt(field.bits)) - 1n);
      return { ...field, found: found.toString(), binary: found.toString(2).padStart(field.bits, '0') };
    }),
  };
}

/** The lines for people. */
export function linesOfId(decoded: DecodedId, output: CliOutput): string[] {
  const { id, time, workerId, fields, form = 'decimal' } = decoded;
  const bits = fields.reduce((sum, field) => sum + field.bits, 0);
  const written = form === 'decimal' ? '' : `  written as ${form}`;
  return [
    `${output.styled('bold', id)}  ${time}  worker ${workerId}${written}`,
    ...guessesOf(decoded, output),
    ...bitPicture(fields, bits, { shown: (field) => (field as DecodedField).found, output }),
    fields.map(({ binary }, index) => coloured(output, index, binary)).join(' '),
  ];
}

function guessesOf({ readings }: DecodedId, output: CliOutput): string[] {
  if (readings === undefined) return [];
  const [best, ...others] = readings;
  const also = others.filter(({ plausibility }) => plausibility !== 'unlikely').slice(0, MOST_OTHERS);
  const { title, plausibility, reason } = best!;
  return [
    `${output.styled('bold', title)}: ${plausibility}, ${reason}`,
    ...also.map((each) => `or ${each.title}, ${each.time}: ${each.plausibility}`),
  ];
}
