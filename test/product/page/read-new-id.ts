import type { Page } from 'playwright-core';
import { until } from '../../support/until.js';

/**
 * Waits for the ID that the page reads at first by itself, lets `ask` ask for another one, waits until that is read,
 * and returns it. Without the first wait the first ID passes for the new one, or its buttons vanish later.
 */
export async function readNewId(page: Page, ask: () => Promise<void>): Promise<string> {
  const read = (): Promise<string> => page.locator('#read-id').inputValue();
  const first = await until('the page has read an ID', async () => (await read()) || undefined);
  await ask();
  return until('the page has read a new ID', async () => {
    const now = await read();
    return now !== first && now;
  });
}
