import { discord } from './discord.js';
import { instagram } from './instagram.js';
import { keyWorker } from './key-worker.js';
import { sonyflake } from './sonyflake.js';
import { tsid } from './tsid.js';
import { twitter } from './twitter.js';
import { uidGenerator, uidGeneratorGlobal } from './uid-generator.js';
import { westid } from './westid.js';

/**
 * The layouts of other ID systems, each a function that returns a `Layout`: for the module's option `layout`, for
 * `SnowflakeGenerator` and for `parseId`. A layout that has expired only reads. See docs/presets.md.
 */
export const presets = Object.freeze({
  /** Twitter's snowflakes: 41 bits of milliseconds, data centre 5, machine 5, sequence 12; until 2080-07-10. */
  twitter,
  /** westid's: 41 bits of milliseconds, worker 10, sequence 12; until 2086-11-29. */
  westid,
  /** uid-generator's: seconds 28, worker 22, sequence 13, or other bits; with the original's epoch it only reads. */
  uidGenerator,
  /** The same with 5 bits for a data centre, a fixed part of every ID. */
  uidGeneratorGlobal,
  /** KeyWorker's bits with the epoch that was meant: 42 bits of milliseconds, process 5, machine 5, sequence 12. */
  keyWorker,
  /** Discord's, of 64 bits: 42 bits of milliseconds, worker 5, process 5, sequence 12; issues until 2084-09-06. */
  discord,
  /** Instagram's, of 64 bits: 41 bits of milliseconds, shard 13, sequence 10; issues until 2046-06-27. */
  instagram,
  /** Sonyflake's: 39 bits of 10 ms, sequence 8, machine 16; until 2188-11-16. */
  sonyflake,
  /** TSIDs, of 64 bits: 42 bits of milliseconds, node and counter 22 together; issues until 2089-09-06. */
  tsid,
});
