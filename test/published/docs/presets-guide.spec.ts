import { type Layout, parseId } from '../../../libs/core/src/layout/layout.js';
import { parseKeyWorkerId, presets } from '../../../libs/core/src/presets/presets.js';
import { uidJson } from '../../../libs/core/src/presets/uid-json.js';
import { recognizeId } from '../../../libs/core/src/recognition/recognize-id.js';
import { readDocument, runBlock, typescriptBlocks } from './typescript-blocks.js';

const guide = readDocument('docs/presets.md');
const uidGenerator = readDocument('docs/coming-from/uid-generator.md');
const snowflakes = readDocument('docs/coming-from/snowflakes.md');
const run = (text: string): Record<string, unknown>[] =>
  typescriptBlocks(text).map((block) => runBlock(block, { parseId, parseKeyWorkerId, presets, recognizeId, uidJson }));
const [configured, reading, guessed] = run(readDocument('docs/presets.md#presets-of-other-systems')).concat(
  run(readDocument('docs/presets.md#rules-for-all-presets')),
);
const [expired, json] = run(uidGenerator);
const [keyWorker] = run(snowflakes);

/** Every preset as it comes, by name. */
const layouts = new Map<string, Layout>(
  (Object.keys(presets) as (keyof typeof presets)[]).map((name) => [
    name,
    name === 'uidGeneratorGlobal' ? presets[name]({ datacenterId: 0 }) : presets[name](),
  ]),
);

describe('The examples of docs/presets.md and docs/coming-from', () => {
  it('configure the range of a data centre', () => {
    const { options } = configured as {
      options: { layout: Layout; serviceMinWorkId: number; serviceMaxWorkId: number };
    };
    const { layout, serviceMinWorkId: workerId } = options;
    expect(layout.fingerprint).toBe(presets.twitter().fingerprint);
    expect(layout.pack({ tick: 0, workerId, clockBack: 0, sequence: 0 })).toBe(1n << 17n);
    expect([workerId >> 5, options.serviceMaxWorkId >> 5, options.serviceMaxWorkId & 31]).toEqual([1, 1, 31]);
  });

  it('read what their comments say', () => {
    expect(reading).toMatchObject({
      tweet: new Date('2018-10-10T20:19:24.211Z'),
      photo: new Date('2013-10-03T18:19:39.392Z'),
      message: { time: new Date('2016-04-30T11:18:25.796Z') },
      worker: 1,
      process: 0,
    });
    expect(keyWorker!['issued']).toEqual(new Date('2018-07-21T00:00:00.000Z'));
    expect(guide).toContain(`// ${guessed!['guess'] as string}\n`);
    expect(uidGenerator).toContain(`// ${json!['json'] as string}\n`);
  });

  it('show two ways on after the expiry, one of them with IDs that were never issued', () => {
    const { fresh, onward } = expired as { fresh: Layout; onward: { layout: Layout; serviceMinWorkId: number } };
    expect([Math.floor(fresh.lifetimeYears), fresh.maxWorkerId + 1, fresh.idsPerSecond]).toEqual([
      68, 1_048_576, 4_096,
    ]);
    expect(onward.layout.expiresAt!.toISOString()).toMatch(/^2034-07-04/);
    // Whatever the time: the original cannot have issued an ID of a worker that it never handed out.
    const issued = { tick: 7, workerId: onward.serviceMinWorkId, clockBack: 0, sequence: 1 };
    expect(presets.uidGenerator().unpack(onward.layout.pack(issued)).workerId).toBe(1_000_001);
  });

  it('name the end of version 2 of sonyflake', () => {
    const { expiresAt } = presets.sonyflake({ startTimeStamp: '2025-01-01' });
    expect(snowflakes).toContain(`until ${expiresAt!.toISOString().slice(0, 10)}.`);
  });
});

describe('The tables of docs/presets.md', () => {
  const rows = [...guide.matchAll(/^\| `(\w+)\(\)` \| (.*) \|$/gm)].map(
    (match) => [match[1]!, match[2]!.split(' | ')] as const,
  );

  it('have a row for every preset', () => {
    expect(rows.filter(([, cells]) => cells.length > 1).map(([name]) => name)).toEqual([...layouts.keys()]);
  });

  it.each(rows.filter(([, cells]) => cells.length > 1))(
    'say what %s is',
    (name, [bits, epoch, until, workers, rate]) => {
      const layout = layouts.get(name)!;
      const unit = { 1: 'ms', 10: '10 ms', 1_000: 's' }[layout.unitMs];
      const fields = layout.fields.map((field) => {
        if (field.role === 'time') return layout.unitMs === 10 ? `${field.bits} × ${unit}` : `${field.bits} ${unit}`;
        return field.role === 'sequence'
          ? String(field.bits)
          : `${field.bits} ${field.name}`.replace('datacenter', 'data centre');
      });
      expect(bits).toBe(fields.join(', '));
      expect(Date.parse(`${epoch!.replace(' ', 'T')}${epoch!.includes(' ') ? 'Z' : ''}`)).toBe(layout.epochMs);
      expect(until!.replaceAll('*', '')).toBe(layout.expiresAt!.toISOString().slice(0, 10));
      expect(workers!.split(' × ').at(-1)).toBe((layout.maxWorkerId + 1).toLocaleString('en-US'));
      expect(rate).toBe(layout.idsPerSecond.toLocaleString('en-US'));
    },
  );

  it('say how long the layouts of 64 bits read', () => {
    const ends = [...layouts]
      .filter(([, { bits }]) => bits === 64)
      .map(
        ([name, layout]) =>
          [name, new Date(layout.timeline.startOf(parseId(layout, 2n ** 64n - 1n).tick + 1))] as const,
      );
    const said = rows.filter(([, cells]) => cells.length === 1);
    expect(Object.fromEntries(said.map(([name, [day]]) => [name, day]))).toEqual(
      Object.fromEntries(ends.map(([name, end]) => [name, end.toISOString().slice(0, 10)])),
    );
  });
});
