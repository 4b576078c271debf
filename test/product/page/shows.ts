import type { Page } from 'playwright-core';
import { until } from '../../support/until.js';

/** Waits until an element shows a text. */
export async function shows(page: Page, selector: string, text: string | RegExp): Promise<void> {
  await until(`${selector} shows ${String(text)}`, async () => {
    const shown = (await page.locator(selector).textContent()) ?? '';
    if (typeof text === 'string') expect(shown).toContain(text);
    else expect(shown).toMatch(text);
    return true;
  });
}
