// The kinds of keys, each as its users write it.
import { RaindropModule } from '@raindrop/nestjs';
import { GeneratedSnowflake, SnowflakeBetween } from '@raindrop/typeorm';
import { Between, PrimaryColumn, PrimaryGeneratedColumn } from 'typeorm';
import { v7 } from 'uuid';

/** 1,024 IDs in a millisecond for each of 1,023 workers, for 69 years. */
const LAYOUT = {
  timeUnit: 'millisecond',
  startTimeStamp: '2026-01-01',
  timeStampLength: 41,
  workIdLength: 10,
  endBitsLength: 1,
};

/**
 * `key` decorates the property, `newId` makes the key where the application does. `isOrdered`: the newest row has the
 * largest key. `within(from, to)`: the keys of a time; without it rows are found in an index on `created_at`.
 */
export const KINDS = [
  {
    name: 'snowflake',
    title: 'snowflake',
    key: GeneratedSnowflake({ as: 'string' }),
    modules: () => [RaindropModule.forRoot({ ...LAYOUT, checkShutdownHooks: false })],
    isOrdered: true,
    within: SnowflakeBetween,
  },
  { name: 'auto-increment', title: 'auto-increment', key: PrimaryGeneratedColumn(), isOrdered: true },
  {
    name: 'uuid-v7',
    title: 'uuid v7',
    key: PrimaryColumn('uuid'),
    newId: () => v7(),
    isOrdered: true,
    within: (from, to) => Between(v7At(from, 0x00), v7At(to, 0xff)),
  },
  { name: 'uuid-v4', title: 'uuid v4', key: PrimaryGeneratedColumn('uuid'), isOrdered: false },
];

/** The first or last v7 of a millisecond. */
function v7At(moment, fill) {
  return v7({ msecs: moment.getTime(), seq: fill === 0 ? 0 : 0xffffffff, random: new Uint8Array(16).fill(fill) });
}
