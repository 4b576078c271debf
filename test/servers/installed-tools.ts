import { existsSync, readdirSync } from 'node:fs';
import { AptInstall } from './apt-install';
import { findProgram } from './find-program';

/** What tests need beside the servers: Chromium draws the page, faketime steps the clocks of real processes. */
const tools: Readonly<Record<string, () => boolean>> = {
  chromium: () => Boolean(process.env['CHROMIUM']) || hasProgram('chromium') || hasProgram('google-chrome'),
  faketime: () =>
    existsSync('/usr/lib') &&
    readdirSync('/usr/lib').some((folder) => existsSync(`/usr/lib/${folder}/faketime/libfaketimeMT.so.1`)),
};

/**
 * Installs, for the run of everything, what is missing and can be had. What cannot be had is not told here: the tests
 * that need it are left out, and say why.
 */
export async function installTools(apt: AptInstall): Promise<void> {
  if (process.env['RAINDROP_TEST_TIER'] !== 'all') {
    return;
  }
  const missing = Object.keys(tools).filter((name) => !tools[name]!());
  await Promise.allSettled(missing.map((name) => apt.install(name)));
}

function hasProgram(name: string): boolean {
  try {
    findProgram(name);
    return true;
  } catch {
    return false;
  }
}
