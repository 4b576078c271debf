import type { Browser } from 'playwright-core';
import { freePort } from '../../support/servers/free-port.js';
import { openChromium } from './chromium.js';
import { openPage } from './opened-page.js';
import { startService, type PageService } from './page-service.js';
import { shows } from './shows.js';

const API_KEY = 'key-of-the-page-tests';

describe('When the service goes away, the page', () => {
  let browser: Browser;
  let service: PageService | undefined;

  beforeAll(async () => {
    browser = await openChromium();
  });

  afterAll(async () => {
    await browser?.close();
    await service?.stop();
  });

  it('says so, works on as far as it can, and goes on when the service comes back', async () => {
    const port = await freePort();
    service = await startService({ port, apiKey: API_KEY });
    const { page, complaints, origins, close } = await openPage(browser, service.url);
    await page.getByRole('button', { name: 'Take a new ID' }).click();
    await shows(page, '#read-check', '✓');
    await page.getByLabel('API key').fill(API_KEY);
    await page.getByRole('button', { name: 'Show workers' }).click();
    await shows(page, '#workers-said', 'held');
    expect(complaints).toEqual([]);

    await service.stop();
    await shows(page, '#connection', /^The service has not answered since \d\d:\d\d:\d\d UTC\./);
    await shows(page, '#state-text', 'No answer');
    await shows(page, '#workers-problem', 'What you see is the last that was known.');
    await page.getByLabel('ID', { exact: true }).fill('15101086654988290');
    await shows(page, '#read-moment', /\d{4}, \d\d:\d\d:\d\d UTC/);
    await shows(page, '#read-check', 'Read here; the service cannot confirm it now.');
    await page.getByRole('slider', { name: 'Timestamp' }).fill('34');
    await shows(page, '#plan-check', 'The service does not answer. What you see is what was planned last.');
    await shows(page, '#plan-figures', '272 years');
    await page.getByRole('button', { name: 'Take', exact: true }).click();
    await shows(page, '#take-problem', 'The service does not answer.');
    // The browser itself notes each request that failed; the page's scripts fail at none.
    expect(complaints.filter((each) => !each.includes('Failed to load resource'))).toEqual([]);

    // It says so for some seconds only.
    await page.evaluate(`
      globalThis.told = [];
      const watch = new MutationObserver((changes) => told.push(...changes.map(({ target }) => target.textContent)));
      watch.observe(document.getElementById('connection'), { childList: true, characterData: true, subtree: true });
    `);
    service = await startService({ port, apiKey: API_KEY });
    await shows(page, '#state-text', 'Ready');
    expect(await page.evaluate('told')).toContain('The service answers again.');
    await shows(page, '#plan-figures', '544 years');
    await shows(page, '#workers-problem', /^$/);
    await page.getByRole('button', { name: 'Take', exact: true }).click();
    await shows(page, '#take-said', 'IDs in');
    await shows(page, '#connection', /^$/);
    expect([...origins]).toEqual([service.url]);
    await close();
  });
});
