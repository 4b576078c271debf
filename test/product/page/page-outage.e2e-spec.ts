import type { Browser } from 'playwright-core';
import { freePort } from '../../support/servers/free-port.js';
import { until } from '../../support/until.js';
import { openChromium } from './chromium.js';
import { openPage } from './opened-page.js';
import { startService, type PageService } from './page-service.js';
import { shows } from './shows.js';

const API_KEY = 'key-of-the-page-tests';
const UNCONFIRMED = 'Decoded in your browser; the service cannot confirm it now.';

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
    await page.getByRole('button', { name: 'Get a new ID' }).click();
    await shows(page, '#read-check', '✓ The service confirms this.');
    await page.getByLabel('API key').fill(API_KEY);
    await page.getByRole('button', { name: 'Show workers' }).click();
    await shows(page, '#workers-said', 'held');
    // Two answers make a line.
    await page.locator('#chart .line').waitFor({ state: 'attached' });
    expect(complaints).toEqual([]);

    await service.stop();
    await shows(page, '#connection', /^The service has not answered since \d\d:\d\d:\d\d UTC\./);
    await shows(page, '#state-text', 'No answer');
    // What the service said of workers is not known any more.
    await shows(page, '#read-check', UNCONFIRMED);
    await shows(page, '#workers-problem', 'The service does not answer.');
    await shows(page, '#workers-said', /^$/);
    for (const gone of ['#workers-map', '#workers-scroll']) expect(await page.locator(gone).isHidden()).toBe(true);
    await shows(page, '#lease-facts', /^$/);
    await shows(page, '#events', /^$/);
    // The last rate is not the rate of now.
    await shows(page, '#chart-now', /^–$/);
    expect(await page.locator('#chart').getAttribute('aria-label')).toMatch(
      /^No rate now; the highest of the last minute is \d+$/,
    );
    expect(await page.locator('#chart .tip').count()).toBe(0);
    expect(await page.locator('#chart .line').count()).toBe(1);
    await page.getByLabel('ID or text').fill('15101085690626050');
    await shows(page, '#read-moment', /\d{4}, \d\d:\d\d:\d\d UTC/);
    await shows(page, '#read-check', UNCONFIRMED);
    await page.getByRole('slider', { name: 'Timestamp' }).fill('34');
    await shows(page, '#plan-check', 'The service does not answer. This is the last plan.');
    await shows(page, '#plan-figures', '272 years');
    await page.getByRole('button', { name: 'Get', exact: true }).click();
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
    await shows(page, '#read-check', '✓ The service confirms this.');
    await shows(page, '#plan-figures', '544 years');
    await shows(page, '#workers-problem', /^$/);
    await shows(page, '#workers-said', 'held');
    await shows(page, '#lease-facts', 'Renewal time');
    await page.getByRole('button', { name: 'Get', exact: true }).click();
    await shows(page, '#take-said', 'IDs in');
    await shows(page, '#connection', /^$/);
    // The chart has a gap between the rates from before and those from now.
    await until('the chart goes on behind a gap', async () => (await page.locator('#chart .line').count()) === 2);
    await shows(page, '#chart-now', /^\d+$/);
    expect(await page.locator('#chart .tip').count()).toBe(1);
    expect([...origins]).toEqual([service.url]);
    await close();
  });
});
