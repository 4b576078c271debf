/** Rows as aligned columns, two spaces apart; numbers stand at the right. The first row is the head. */
export function textTable(rows: readonly (readonly string[])[]): string[] {
  const body = rows.slice(1);
  const columns = (rows[0] ?? []).map((_, index) => ({
    width: Math.max(...rows.map((row) => (row[index] ?? '').length)),
    isNumeric: body.length > 0 && body.every((row) => /^[\d,.-]*$/.test(row[index] ?? '')),
  }));
  return rows.map((row) =>
    columns
      .map(({ width, isNumeric }, index) => {
        const cell = row[index] ?? '';
        return isNumeric ? cell.padStart(width) : cell.padEnd(width);
      })
      .join('  ')
      .trimEnd(),
  );
}
