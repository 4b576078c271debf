import type { Browser, Page } from 'playwright-core';
import { openChromium } from './chromium.js';
import { openPage } from './opened-page.js';
import { startService, type PageService } from './page-service.js';
import { shows } from './shows.js';

describe('The page helps', () => {
  let browser: Browser;
  let service: PageService;
  let page: Page;

  beforeAll(async () => {
    [browser, service] = await Promise.all([openChromium(), startService({})]);
  });

  beforeEach(async () => {
    ({ page } = await openPage(browser, service.url));
  });

  afterEach(() => page.context().close());

  afterAll(async () => {
    await browser?.close();
    await service?.stop();
  });

  it('with advice on a layout, which the sliders take over', async () => {
    await page.getByLabel('Exact JavaScript numbers').check();
    await page.getByRole('button', { name: 'Recommend' }).click();
    const cards = page.locator('#advice .advice');
    await shows(page, '#advise-said', "3 layouts, 3 of which meet your needs. The best one first: Layout 'number'.");
    expect(await cards.first().textContent()).toContain('40 bits of seconds, 8 for workers.');
    await page.getByRole('button', { name: 'Use this (In milliseconds)' }).click();
    await shows(page, '#plan-time-out', '50 bits');
    await shows(page, '#plan-code', "timeUnit: 'millisecond'");
    expect(await page.getByLabel('Expected processes').inputValue()).toBe('50');
    expect(new URL(page.url()).hash).toBe('#plan=millisecond,2026-01-01,50,7,1,,,,50,2000');
  });

  it('and says which needs are none, and what nothing meets', async () => {
    await page.getByLabel('Processes', { exact: true }).fill('0');
    await page.getByRole('button', { name: 'Recommend' }).click();
    await shows(page, '#advise-problem', '“Processes” is out of range: must be an integer from 1 to 1023');
    await page.getByLabel('Processes', { exact: true }).fill('1000');
    await page.getByLabel('Years').fill('900');
    await page.getByLabel('Exact JavaScript numbers').check();
    await page.getByRole('button', { name: 'Recommend' }).click();
    await shows(page, '#advice', 'keep them as strings');
    await shows(page, '#advice', /until (the year \d\d,\d{3}|\d+ [A-Z][a-z]+ \d{4})\./);
    // Nothing meets these needs: no advice has the button of one that does.
    await shows(page, '#advise-said', '2 layouts, none of which meet your needs.');
    expect(await page.locator('#advice .mark').allTextContents()).toEqual(
      Array.from({ length: 2 }, () => 'Does not meet your needs'),
    );
    expect(await page.locator('#advice .primary').count()).toBe(0);
    expect(await page.getByRole('button', { name: 'Use it anyway' }).count()).toBe(2);
    expect(await page.locator('#advise-problem').textContent()).toBe('');
  });

  it('with a link to a plan', async () => {
    await page.goto('about:blank');
    await page.goto(`${service.url}/#plan=second,2026-01-01,34,6,2,3,40,1`);
    await shows(page, '#plan-figures', /Workers38processes at once, ids 3 to 40/);
    expect(await page.locator('#plan-bits .bit.time').count()).toBe(34);
    expect(await page.locator('#plan-bits .bit.fixed').allTextContents()).toEqual(['0', '1']);
  });

  it('with what cures a warning, and a plan that is impossible', async () => {
    await page.getByRole('slider', { name: 'End bits' }).fill('0');
    await page.getByRole('button', { name: 'Fix: reserve 1 end bit' }).click();
    await shows(page, '#plan-end-out', '1 bit');
    await page.getByRole('slider', { name: 'Worker' }).fill('3');
    await page.getByLabel('Expected processes').fill('100');
    await page.getByRole('button', { name: 'Fix: use 8 bits for workers' }).click();
    await shows(page, '#plan-figures', /Workers255/);
    await page.getByRole('slider', { name: 'Timestamp' }).fill('55');
    await shows(page, '#plan-problem', 'leaves no sequence bit');
    expect(await page.locator('#plan-bits').getAttribute('class')).toContain('impossible');
    await page.getByRole('button', { name: 'Fix: use 41 bits for the timestamp' }).click();
    await shows(page, '#plan-problem', /^$/);
    expect(await page.locator('#plan-bits').getAttribute('class')).not.toContain('impossible');
  });

  it('with IDs in any form and under a code, and with numbers of other kinds', async () => {
    await page.getByLabel('Format').selectOption('base62');
    await page.getByLabel('Code (optional)').fill('invoice');
    await page.getByLabel('How many').fill('3');
    await page.getByRole('button', { name: 'Get', exact: true }).click();
    await shows(page, '#take-said', /^3 IDs in/);
    const first = page.locator('#take-list button').first();
    expect(await first.textContent()).toMatch(/^[0-9A-Za-z]{9,11}$/);
    await first.click();
    await shows(page, '#read-aside', 'likely issued by this service');
    await page.getByLabel('Kind').selectOption('Dense numbers: order');
    await page.getByRole('button', { name: 'Get', exact: true }).click();
    await shows(page, '#take-list', '123');
    await page.getByLabel('Kind').selectOption('Business number: invoice');
    await page.getByRole('button', { name: 'Get', exact: true }).click();
    await shows(page, '#take-list', /^INV-\d{4}-000001$/);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download', exact: true }).click(),
    ]);
    expect(download.suggestedFilename()).toBe('ids.txt');
  });

  it('and says how the lease is', async () => {
    await shows(page, '#lease-facts', /IDs without the databasefor \d+ s/);
    await shows(page, '#lease-facts', /Clock offset to the database(none|\d+ ms (ahead|behind))/);
  });

  it("shows the service's own error, however late it comes", async () => {
    await page.route('**/v1/ids?*', (route) =>
      route.fulfill({ status: 503, json: { detail: 'No ID can be issued right now.', retryable: true } }),
    );
    await page.getByRole('button', { name: 'Get', exact: true }).click();
    await shows(page, '#take-problem', 'No ID can be issued right now.');
  });

  it('comes as one script, compressed, and says something without it', async () => {
    const scripts: string[] = [];
    page.on('response', (response) => {
      if (response.request().resourceType() === 'script')
        scripts.push(response.headers()['content-encoding'] ?? 'none');
    });
    await page.reload();
    await page.getByText('Ready', { exact: true }).waitFor();
    expect(scripts).toHaveLength(1);
    expect(scripts[0]).toMatch(/^(br|gzip)$/);
    const context = await browser.newContext({ javaScriptEnabled: false });
    const plain = await context.newPage();
    await plain.goto(service.url);
    expect(await plain.locator('noscript').textContent()).toContain('needs JavaScript');
    await context.close();
  });

  it('shows the bits in one row on a phone', async () => {
    await page.setViewportSize({ width: 375, height: 800 });
    const tops = await page.evaluate<number[]>(
      `[...document.querySelectorAll('#read-bits .bit')].map((bit) => bit.getBoundingClientRect().top)`,
    );
    expect(tops).toHaveLength(64);
    expect(new Set(tops).size).toBe(1);
  });
});
