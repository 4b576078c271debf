import { WorkerKeys } from './worker-record.js';

describe('WorkerKeys', () => {
  const keys = new WorkerKeys('a/');
  const entriesOf = (...all: string[]): Map<string, string> => new Map(all.map((key) => [key, '']));

  it('takes decimal digits only for a row, so that no key of another table, or of an application, looks like one', () => {
    const inner = ['a/row/fence', 'a/row/state', 'a/row/row/1', 'a/row/live/1', 'a/row/1/fence', 'a/row/layout/x'];
    const strange = ['a/row/', 'a/row/01', 'a/row/1e3', 'a/row/-1', 'a/row/ 1', 'a/row/0x1', 'a/row/9007199254740993'];
    const entries = entriesOf(keys.row(0), keys.row(7), keys.row(4_095), 'b/row/8', ...inner, ...strange);
    expect(keys.idsIn(entries)).toEqual([0, 7, 4_095]);
  });

  it('takes for a layout whatever a release may have noted, and no key of a table inside', () => {
    const noted = ['1000@1672531200:t33.w10.b1.s18.e1=0', 'of-a-later-release', '2#1000@0:t41.w22'];
    const inner = ['fence', 'state', 'row/1', 'live/1', 'layout/1000@0:t41.w22', 'x/fence', ''];
    const entries = entriesOf(...[...noted, ...inner].map((each) => `a/layout/${each}`));
    expect(keys.layoutsIn(entries)).toEqual(noted);
  });
});
