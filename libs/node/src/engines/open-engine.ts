import { resolve } from 'node:path';
import { kindOf } from '../options/assigner-options.js';
import type { ResolvedServiceOptions } from '../options/resolve-options.js';
import type { IdEngine } from '../ports/id-engine.js';
import { logContext } from '../ports/logger.js';
import { systemPorts } from '../system/system-ports.js';
import { registerCopy, otherCopies, describeCopies } from '../system/package-copies.js';
import { openSegmentEngine } from './segment-engine.js';
import { openSnowflakeEngine, type SnowflakeSurroundings } from './open-snowflake-engine.js';

/**
 * Opens the engine that the options ask for: snowflakes, numbers from segments, or the IDs of another process.
 * @throws the error that keeps it from issuing; nothing stays open then
 */
export async function openEngine(
  options: ResolvedServiceOptions,
  surroundings: SnowflakeSurroundings,
): Promise<IdEngine> {
  const { name, database, logger } = surroundings;
  const warn = (message: string): void => void logger.warn(message, logContext(name));
  otherVersionWarning().forEach(warn);
  if (usesDatabase(options)) (options.dbConfig ?? database)?.warnings().forEach(warn);
  if (options.idMode === 'numberSection') return openSegmentEngine(options, database, systemPorts('exact'), warn);
  const { idSource, sourceLayout, generator } = options;
  if (idSource !== undefined) return idSource.open({ name, layout: sourceLayout, generator });
  return openSnowflakeEngine(options, surroundings);
}

function usesDatabase(options: ResolvedServiceOptions): boolean {
  if (options.idMode === 'numberSection') return true;
  if (options.idSource !== undefined) return false;
  return options.assigner.parts.some(({ use }) => kindOf(use).hasTable);
}

const NAME = '@raindrop/node';
const own = registerCopy(NAME, () => resolve(__dirname, '../..'), {});

let isSaid = false;

/** The warning for a process that has loaded two versions of this package. It is given once. */
function otherVersionWarning(): string[] {
  const others = otherCopies(NAME, own).filter(({ version }) => version !== own?.version);
  if (own === undefined || others.length === 0 || isSaid) return [];
  isSaid = true;
  const copies = describeCopies(NAME, [own, ...others]);
  return [`two versions of this package are loaded and may be incompatible: ${copies}`];
}
