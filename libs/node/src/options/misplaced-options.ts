import type { OptionReader } from '@raindrop/core/internal';
import { OPTION_TABLE, type Origin } from './option-table.js';

/** What the service has in place of what reads an option. */
const INSTEAD: { readonly [Each in Origin]?: string } = {
  idSource: '; with idSource another process has the worker id',
  numberSection: `; this one has idMode: 'numberSection'`,
};

/** Refuses options that nothing reads here: they would be ignored, and whoever wrote them believes otherwise. */
export function refuseMisplaced(reader: OptionReader, origins: readonly Origin[]): void {
  const instead = origins.map((each) => INSTEAD[each] ?? '').join('');
  for (const { options, readBy, purpose } of OPTION_TABLE) {
    if (readBy.some((each) => origins.includes(each))) continue;
    for (const option of options) refuse(reader, option, `is for ${purpose}${instead}`);
  }
}

/** A URL may hold a password, and so may what a buffer or a source is made of. */
const HIDDEN = ['dbConfig', 'redis', 'idSource'];

/** Refuses an option that is given. */
export function refuse(reader: OptionReader, option: string, message: string): void {
  const given = reader.value(option);
  if (given === undefined) return;
  const isObject = typeof given === 'object' && given !== null && !Array.isArray(given);
  reader.problem(option, isObject || HIDDEN.includes(option) ? '(hidden)' : given, message);
}
