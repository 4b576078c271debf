import type { PlannedField } from '@raindrop/core';

/**
 * The fields side by side, from the top: names, widths and, where given, values under them.
 * @param valueOf what a field holds, for an ID that is taken apart
 */
export function bitPicture(
  fields: readonly PlannedField[],
  bits: number,
  valueOf?: (field: PlannedField) => string,
): string[] {
  const signed = bits === 63;
  const columns = [
    ...(signed ? [['sign', '1 bit', '0']] : []),
    ...fields.map((field) => [
      field.name,
      `${field.bits} bit${field.bits === 1 ? '' : 's'}`,
      valueOf?.(field) ?? (field.value === null ? '' : `= ${field.value}`),
    ]),
  ];
  const widths = columns.map((column) => Math.max(...column.map((cell) => cell.length)));
  const row = (line: number): string =>
    `| ${columns.map((column, index) => column[line]!.padEnd(widths[index]!)).join(' | ')} |`;
  const edge = `+${widths.map((width) => '-'.repeat(width + 2)).join('+')}+`;
  return [edge, row(0), row(1), row(2), edge];
}
