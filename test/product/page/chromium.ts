import { chromium, type Browser } from 'playwright-core';
import { findProgram } from '../../support/servers/find-program.js';
import { MissingForTests } from '../../support/jest/missing-for-tests.js';

/**
 * A headless Chromium: `CHROMIUM`'s, or the first of the system's.
 * @param more of its arguments
 * @throws MissingForTests that says what to install
 */
export async function openChromium(...more: readonly string[]): Promise<Browser> {
  // Chromium's sandbox refuses to run as root, which is what a CI container is.
  const args = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  return chromium.launch({ executablePath: chromiumPath(), args: [...args, ...more] });
}

function chromiumPath(): string {
  const named = process.env['CHROMIUM'];
  if (named) return named;
  for (const name of ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome']) {
    try {
      return findProgram(name);
    } catch {
      // The next one.
    }
  }
  throw new MissingForTests(
    'Chromium',
    'install it (Debian: apt-get install chromium), or name the program in CHROMIUM',
  );
}
