import { createLayout, parseId } from '@raindrop/core';
import { shellCommands } from './shell-commands.js';
import { differences, missingLines } from './shown-answer.js';

it('answers may differ in digits and IDs alone, and IDs are remembered', () => {
  const names = new Map<string, string>();
  const shown = { id: 'order_02E2ezHzPjk', rows: [{ at: '2026-11-21T05:06:58.000Z', left: 3 }], next: null };
  const now = { id: 'order_0SFl1rASuPo', rows: [{ at: '2027-01-02T15:16:18.001Z', left: 12 }], next: null };
  expect(differences(shown, now, names)).toEqual([]);
  expect(names.get('order_02E2ezHzPjk')).toBe('order_0SFl1rASuPo');
  expect(differences(shown, { ...now, id: 'order-1' })).toEqual(['.id: "order-1" is not like "order_02E2ezHzPjk"']);
  expect(differences(shown, { ...now, rows: [] })).toHaveLength(1);
  expect(differences({ id: '1' }, { id: 1 })).toHaveLength(1);
  expect(differences({ id: '1' }, { id: '1', more: true })).toHaveLength(1);
});

it('every shown line needs one like it', () => {
  expect(missingLines('7 rows freed\n| 1 bit |', 'x\n 12  rows freed\n| 3 bit |')).toEqual([]);
  expect(missingLines('7 rows freed', '7 rows kept')).toEqual(['7 rows freed']);
  expect(missingLines('nextId()  63,500,010  47 %', 'nextId()  960,010  1 %')).toEqual([]);
});

it('IDs in the answers of the documents are the first of their process, as in a run of a new application', () => {
  const layout = createLayout(
    { startTimeStamp: '2026-01-01', timeStampLength: 33, workIdLength: 10, endBitsLength: 1 },
    Date.now(),
  );
  // The command line's examples have a layout of their own; its guide runs them one after the other.
  const commands = shellCommands().filter(({ document }) => document !== 'docs/cli.md');
  const shown = commands.map(({ place, answer }) => ({ place, ids: answer.match(/\b\d{17}\b/g) ?? [] }));
  const strange = shown.flatMap(({ place, ids }) =>
    ids
      .map((id) => ({ place, ...parseId(layout, id) }))
      .filter(({ sequence, endBits }) => sequence >= ids.length || endBits !== 0),
  );
  expect(shown.filter(({ ids }) => ids.length > 0).length).toBeGreaterThan(10);
  expect(strange.map(({ place, id }) => `${place}: ${id}`)).toEqual([]);
});
