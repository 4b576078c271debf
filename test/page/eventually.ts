import type { Page } from 'playwright-core';

const PAUSE_MS = 50;

/** Runs a check until it holds, for what a page shows a moment later. @throws what the last try threw */
export async function eventually(check: () => Promise<void>, withinMs = 8_000): Promise<void> {
  const end = Date.now() + withinMs;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (Date.now() > end) throw error;
      await new Promise((done) => setTimeout(done, PAUSE_MS));
    }
  }
}

/** Waits until an element shows a text. */
export function shows(page: Page, selector: string, text: string | RegExp, withinMs?: number): Promise<void> {
  return eventually(async () => {
    const shown = (await page.locator(selector).textContent()) ?? '';
    if (typeof text === 'string') expect(shown).toContain(text);
    else expect(shown).toMatch(text);
  }, withinMs);
}
