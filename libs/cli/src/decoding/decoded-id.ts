import { type IdReading, planLayout, type PlannedField } from '@raindrop/core';
import type { CliOutput, Style } from '../io/cli-output.js';
import type { ReadId } from './readers.js';

interface DecodedField extends PlannedField {
  readonly found: string;
  readonly binary: string;
}

type Guess = Pick<IdReading, 'system' | 'title' | 'plausibility' | 'reason'> & { readonly time: string };

const COLOURS: readonly Style[] = ['cyan', 'yellow', 'magenta', 'green', 'blue'];

/** The most other systems that are named for people. */
const MOST_OTHERS = 3;

/** The parts of an ID, as `decode --json` writes them. */
export interface DecodedId {
  readonly id: string;
  readonly time: string;
  readonly tick: number;
  readonly workerId: number;
  readonly clockBack: number;
  readonly sequence: number;
  readonly endBits: number;
  /** The form of the text, such as `base62`; undefined where a flag names it. */
  readonly form: string | undefined;
  /** The systems that may have issued it, the most plausible first; undefined where a layout was given. */
  readonly readings: readonly Guess[] | undefined;
  readonly fields: readonly DecodedField[];
}

/** Takes an ID apart. */
export function describeId({ parsed, layout, form, readings }: ReadId): DecodedId {
  const { id, time, ...parts } = parsed;
  const { fields } = planLayout({ layout });
  return {
    id: id.toString(),
    time: time.toISOString(),
    ...parts,
    form,
    readings: readings?.map(({ system, title, plausibility, reason, parsed: { time: at } }) => ({
      system,
      title,
      plausibility,
      reason,
      time: at.toISOString(),
    })),
    fields: fields.map((field) => {
      const found = (id >> BigInt(field.shift)) & ((1n << BigInt(field.bits)) - 1n);
      return { ...field, found: found.toString(), binary: found.toString(2).padStart(field.bits, '0') };
    }),
  };
}

/** An ID for people in one line: the ID, its time, worker and sequence, and the system that may have issued it. */
export function lineOfId({ id, time, workerId, sequence, readings }: DecodedId, output: CliOutput): string {
  const parts = [output.styled('bold', id), time, `worker ${workerId}`, `sequence ${sequence}`];
  const [best] = readings ?? [];
  if (best !== undefined) parts.push(`${best.title} (${best.plausibility})`);
  return parts.join('  ');
}

/** The lines about an ID for people. */
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

/** How the picture is drawn. */
interface BitPictureOptions {
  /** The value of a field, for an ID that is taken apart. */
  readonly shown?: (field: PlannedField) => string;
  /** Each field has a colour, where this output has colours. */
  readonly output: CliOutput;
}

/** Colours a text of a field; `index` counts the fields from the top, without the sign. */
function coloured(output: CliOutput, index: number, text: string): string {
  return output.styled(index < 0 ? 'dim' : COLOURS[index % COLOURS.length]!, text);
}

/** Draws the fields side by side, the highest bits first: their names, widths and, where given, values. */
export function bitPicture(
  fields: readonly PlannedField[],
  bits: number,
  { shown, output }: BitPictureOptions,
): string[] {
  const signed = bits === 63;
  const columns = [
    ...(signed ? [['sign', '1 bit', '0']] : []),
    ...fields.map((field) => [
      field.name,
      `${field.bits} bit${field.bits === 1 ? '' : 's'}`,
      shown?.(field) ?? (field.value === null ? '' : `= ${field.value}`),
    ]),
  ];
  const widths = columns.map((column) => Math.max(...column.map((cell) => cell.length)));
  // A cell is padded before it is coloured: escape codes have no width.
  const cell = (column: readonly string[], index: number, line: number): string =>
    coloured(output, signed ? index - 1 : index, column[line]!.padEnd(widths[index]!));
  const row = (line: number): string => `| ${columns.map((each, index) => cell(each, index, line)).join(' | ')} |`;
  const edge = `+${widths.map((width) => '-'.repeat(width + 2)).join('+')}+`;
  return [edge, row(0), row(1), row(2), edge];
}
