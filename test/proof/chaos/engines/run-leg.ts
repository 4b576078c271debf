import { readdirSync, rmdirSync } from 'node:fs';
import { installPrograms } from '../../../support/servers/install-programs.js';
import { makeRunDirectory } from '../../../support/servers/run-directory.js';
import type { EngineReport, EngineRunOptions } from './engine-report.js';
import { EngineRun } from './engine-run.js';
import { LEGS } from './legs.js';

/** Runs an engine in a directory of its own, in memory where there is room. @throws what {@link EngineRun.run} throws */
export async function runLeg(options: EngineRunOptions, signal: AbortSignal): Promise<EngineReport> {
  const leg = LEGS[options.engine]!;
  await installPrograms(leg.packages);
  const usual = process.env['TMPDIR'];
  const directory = makeRunDirectory();
  process.env['TMPDIR'] = directory;
  try {
    return await new EngineRun(leg, options, signal).run();
  } finally {
    if (usual === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = usual;
    // What a run that failed has kept stays.
    if (readdirSync(directory).length === 0) rmdirSync(directory);
  }
}
