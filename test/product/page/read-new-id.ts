import type { Page } from 'playwright-core';
import { until } from '../../support/until.js';

/** Lets `ask` ask for a new ID, waits until the page has decoded it, and returns it. */
export async function readNewId(page: Page, ask: () => Promise<void>): Promise<string> {
  const read = (): Promise<string> => page.locator('#read-id').inputValue();
  const before = await read();
  await ask();
  return until('the page has decoded a new ID', async () => {
    const now = await read();
    return now !== before && now;
  });
}
