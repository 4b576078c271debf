import type { PlannedField } from '@raindrop/core';
import type { CliOutput, Style } from '../io/cli-output.js';

/** How the picture is drawn. */
export interface BitPictureOptions {
  /** What a field holds, for an ID that is taken apart. */
  readonly shown?: (field: PlannedField) => string;
  /** Where it is shown: there, each field has a colour where there are colours. */
  readonly output: CliOutput;
}

const COLOURS: readonly Style[] = ['cyan', 'yellow', 'magenta', 'green', 'blue'];

/** What belongs to a field, in its colour; `index` counts from the top, without the sign. */
export function coloured(output: CliOutput, index: number, text: string): string {
  return output.styled(index < 0 ? 'dim' : COLOURS[index % COLOURS.length]!, text);
}

/** The fields side by side, from the top: names, widths and, where given, values under them. */
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
  // Coloured when aligned: escape codes have no width.
  const cell = (column: readonly string[], index: number, line: number): string =>
    coloured(output, signed ? index - 1 : index, column[line]!.padEnd(widths[index]!));
  const row = (line: number): string => `| ${columns.map((each, index) => cell(each, index, line)).join(' | ')} |`;
  const edge = `+${widths.map((width) => '-'.repeat(width + 2)).join('+')}+`;
  return [edge, row(0), row(1), row(2), edge];
}
