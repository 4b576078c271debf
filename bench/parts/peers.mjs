// The generators people use in Node today, each as its documentation says, with one worker.
import crypto, { randomUUID } from 'node:crypto';
import { Snowflake as Sapphire } from '@sapphire/snowflake';
import FlakeId from 'flake-idgen';
import { nanoid } from 'nanoid';
import nodejsSnowflake from 'nodejs-snowflake';
import simpleFlakeId from 'simple-flakeid';
import snowflakify from 'snowflakify';
import { monotonicFactory } from 'ulid';
import { v7 } from 'uuid';
import { orMoment } from './moment.mjs';

const epoch = Date.UTC(2026, 0, 1);
const Snowflakify = snowflakify.default ?? snowflakify;

/** The milliseconds since `epoch` are above so many bits. */
const above = (bits) => (id) => epoch + Number(id >> bits);

/** Each makes a fresh generator: `bigint` where it has one, `text` otherwise; `timeOf` reads the time of an ID, ms. */
export const PEERS = [
  {
    name: '@sapphire/snowflake',
    timeOf: above(22n),
    make: () => {
      const generator = new Sapphire(epoch);
      return { bigint: () => generator.generate() };
    },
  },
  {
    name: 'simple-flakeid (12 bits)',
    timeOf: above(18n),
    // Without a maximum it takes that of 6 bits, whatever the length.
    make: () => {
      const generator = new simpleFlakeId.SnowflakeIdv1({
        workerId: 1,
        baseTime: epoch,
        seqBitLength: 12,
        maxSeqNumber: 4_095,
      });
      return { bigint: () => generator.NextBigId() };
    },
  },
  {
    name: 'snowflakify',
    timeOf: above(22n),
    make: () => {
      const generator = new Snowflakify({ epoch });
      return { bigint: () => generator.nextId() };
    },
  },
  {
    name: 'flake-idgen',
    timeOf: above(22n),
    make: () => {
      const generator = new FlakeId({ epoch });
      // Without a callback it throws when a millisecond is used up.
      const next = () => {
        for (;;) {
          try {
            return generator.next();
          } catch {
            continue;
          }
        }
      };
      return { bigint: () => next().readBigUInt64BE() };
    },
  },
  {
    name: 'nodejs-snowflake (wasm)',
    timeOf: above(22n),
    make: () => {
      const generator = new nodejsSnowflake.Snowflake({ custom_epoch: epoch, instance_id: 1 });
      return { bigint: () => generator.getUniqueID() };
    },
  },
  { name: 'crypto.randomUUID()', make: () => ({ text: () => randomUUID() }) },
  ...randomUuidV7(),
  { name: 'uuid v7', make: () => ({ text: () => v7() }) },
  {
    name: 'ulid monotonic',
    make: () => {
      const next = monotonicFactory();
      return { text: () => next() };
    },
  },
  { name: 'nanoid', make: () => ({ text: () => nanoid() }) },
];

/** Node's own UUIDs by time: since 24.16 and 26.1. */
function randomUuidV7() {
  const { randomUUIDv7 } = crypto;
  if (randomUUIDv7 === undefined) return [];
  return [{ name: 'crypto.randomUUIDv7()', make: () => ({ text: () => randomUUIDv7() }) }];
}

const CHECKED = orMoment(200_000, 2_000);
const STEP_BACK_MS = 20;

/** What is wrong with a generator: repeats in a burst, IDs out of order, repeats when the clock goes back. */
export function faultsOf({ make }) {
  const faults = [];
  try {
    const { bigint, text } = make();
    const next = bigint ?? text;
    const ids = Array.from({ length: CHECKED }, next);
    const repeats = CHECKED - new Set(ids).size;
    if (repeats > 0) faults.push(`${repeats} of ${CHECKED} repeated in a burst`);
    else if (bigint !== undefined && ids.some((id, index) => index > 0 && id <= ids[index - 1]))
      faults.push('out of order');
    const back = repeatsWhenTheClockGoesBack(make);
    if (back > 0) faults.push(`${back} repeated after the clock went back ${STEP_BACK_MS} ms`);
  } catch (error) {
    faults.push(`threw: ${String(error.message).slice(0, 60)}`);
  }
  return faults;
}

function repeatsWhenTheClockGoesBack(make) {
  const { bigint, text } = make();
  const next = bigint ?? text;
  const real = Date.now;
  const begun = real();
  const ids = [];
  try {
    while (real() - begun < STEP_BACK_MS) ids.push(next());
    Date.now = () => real() - STEP_BACK_MS;
    for (let count = 0; count < 2_000; count++) ids.push(next());
  } catch {
    // A refusal repeats nothing.
  } finally {
    Date.now = real;
  }
  return ids.length - new Set(ids).size;
}
