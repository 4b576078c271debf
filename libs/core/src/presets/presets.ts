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
  twitter,
  westid,
  uidGenerator,
  uidGeneratorGlobal,
  keyWorker,
  discord,
  instagram,
  sonyflake,
  tsid,
});
