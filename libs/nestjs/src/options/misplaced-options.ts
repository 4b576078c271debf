import type { OptionReader } from '@raindrop/core';

/** What is decided where the module is imported, before there are options. */
const BESIDE = ['name', 'isGlobal', 'dataSource'] as const;

/** What says where leased worker ids are kept. */
const OF_THE_LEASE = ['dbConfig', 'tableName'] as const;

/** Options in the wrong place: they would be ignored, and whoever wrote them believes otherwise. */
export function refuseMisplaced(reader: OptionReader, workerIdAssigner: 'database' | 'static'): void {
  for (const option of BESIDE) {
    const given = reader.value(option);
    if (given === undefined) continue;
    const message = `belongs beside useFactory, not into what it returns: forRootAsync({ ${option}: ..., useFactory })`;
    reader.problem(option, given, message);
  }
  if (workerIdAssigner === 'database') return;
  for (const option of OF_THE_LEASE) {
    const given = reader.value(option);
    if (given !== undefined) {
      // A URL may hold a password.
      const shown = option === 'dbConfig' ? '(hidden)' : given;
      reader.problem(
        option,
        shown,
        `is for workerIdAssigner: 'database' only: a worker id given by hand is kept nowhere`,
      );
    }
  }
}
