import type { ChildProcess } from 'node:child_process';
import type { ServiceOptions } from '../../../libs/node/src/options/service-options.js';
import { forkScript, isRunning, kill } from '../../support/processes/forked.js';
import { until } from '../../support/until.js';
import type { Release } from '../../support/engine/open-release.js';
import type { ReleaseAnswer } from './release-process.js';

const SCRIPT = require.resolve('./release-process.ts');

/** Compiling takes its time where much else runs. */
const PATIENTLY = { withinMs: 90_000 };

/** Runs a process for each of these releases, all of which start at one moment and end at one. */
export async function runTogether(
  releases: readonly Release[],
  optionsOf: (release: Release) => ServiceOptions,
): Promise<ReleaseAnswer[]> {
  const said = releases.map((): unknown[] => []);
  const children = releases.map((release, index) => {
    const child = forkScript(SCRIPT, { args: [release, JSON.stringify(optionsOf(release))] });
    child.on('message', (message) => said[index]!.push(message));
    return child;
  });
  const tell = (child: ChildProcess): void => void (child.connected && child.send('go on', () => undefined));
  const heard = (count: number): Promise<boolean> =>
    until(`${count} messages of each process`, () => said.every((each) => each.length >= count), PATIENTLY);
  try {
    await heard(1);
    children.forEach(tell);
    await heard(2);
    children.forEach(tell);
    await until('their end', () => !children.some(isRunning), PATIENTLY);
    return said.map(([, answer]) => answer as ReleaseAnswer);
  } finally {
    await Promise.all(children.map(kill));
  }
}
