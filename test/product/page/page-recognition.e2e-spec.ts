import type { Browser, Page } from 'playwright-core';
import { openChromium } from './chromium.js';
import { openPage, type OpenedPage } from './opened-page.js';
import { startService, type PageService } from './page-service.js';
import { shows } from './shows.js';

const DISCORD = '175928847299117063';
const TWEET = '1541815603606036480';

describe('The page recognises what is pasted', () => {
  let browser: Browser;
  let service: PageService;
  let opened: OpenedPage;
  let page: Page;

  beforeAll(async () => {
    [browser, service] = await Promise.all([openChromium(), startService({})]);
    opened = await openPage(browser, service.url);
    ({ page } = opened);
    // Each moment in the zone and the words of whoever looks.
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  });

  afterEach(() => {
    expect(opened.complaints).toEqual([]);
    expect([...opened.origins]).toEqual([new URL(service.url).origin]);
  });

  afterAll(async () => {
    await browser?.close();
    await service?.stop();
  });

  const paste = (text: string): Promise<void> => page.getByLabel('ID', { exact: true }).fill(text);
  const pressed = (): Promise<string[]> => page.locator('#read-guesses [aria-pressed=true]').allTextContents();

  it('begins with a fresh ID that is taken apart, and asks the service for nothing more', async () => {
    const other = await openPage(browser, service.url);
    await shows(
      other.page,
      '#read-aside',
      /^(just now|\d+ seconds? ago) · worker \d+ · sequence \d+ · read as this service/,
    );
    await shows(other.page, '#read-check', '✓ The service reads the same. Worker');
    expect(new URL(other.page.url()).hash).toBe('');
    await other.close();
  });

  it.each([
    [DISCORD, 'Discord, 30 Apr 2016: likely', '30 April 2016, 11:18:25.796 UTC', 'worker 32 · sequence 7'],
    [TWEET, 'X (Twitter), 28 Jun 2022: likely', '28 June 2022, 16:07:40.105 UTC', 'worker 378 · sequence 0'],
    ['0x271059f2dc00187', 'Discord, 30 Apr 2016', '2016', 'worker'],
    ['fA9uwTtkSN', 'Instagram, 3 Oct 2013: likely', '3 October 2013, 18:19:39.392 UTC', 'worker'],
  ])('%s: %s', async (text, guess, moment, aside) => {
    await paste(text);
    await shows(page, '#read-moment', moment);
    await shows(page, '#read-aside', aside);
    expect((await pressed())[0]).toContain(guess);
    // What is another system's is nothing that the service could confirm.
    expect(await page.locator('#read-check').textContent()).toBe('');
  });

  it('and lets a person choose another reading, which the address keeps', async () => {
    await paste(DISCORD);
    await page.getByRole('button', { name: 'X (Twitter), 3 Mar 2012: possible' }).click();
    await shows(page, '#read-moment', '3 March 2012');
    await shows(page, '#read-aside', 'read as X (Twitter): possible');
    expect(new URL(page.url()).hash).toBe(`#id=${DISCORD}&as=twitter`);
    await page.getByLabel('Issued by').selectOption('own');
    await shows(page, '#read-notes', 'Unlikely: ');
    expect(new URL(page.url()).hash).toBe(`#id=${DISCORD}&as=own`);
  });

  it('follows a link to an ID', async () => {
    const other = await openPage(browser, `${service.url}/#id=${DISCORD}&as=tsid`);
    await shows(other.page, '#read-moment', '30 April 2021');
    expect(await other.page.getByLabel('Issued by').inputValue()).toBe('tsid');
    await other.page.evaluate(`location.hash = '#id=${TWEET}'`);
    await shows(other.page, '#read-moment', '28 June 2022');
    await other.page.evaluate(`location.hash = '#id=<img src=x>&as=nobody'`);
    await shows(other.page, '#read-problem', 'no ID in any form');
    await other.close();
  });

  it.each([
    ['018e9f2a-1b2c-7def-8abc-0123456789ab', 'UUID of version 7 of 2 April 2024, 14:15:20 UTC: not a snowflake.'],
    ['1700000000000', 'Unix time in milliseconds of 14 November 2023, 22:13:20 UTC: not a snowflake.'],
    ['<img src=x>', 'That is no ID in any form that is known here'],
    ['9'.repeat(5_000), 'That is no ID in any form that is known here'],
  ])('and says what is none: %s', async (text, problem) => {
    const input = page.getByLabel('ID', { exact: true });
    await input.fill(text);
    await shows(page, '#read-problem', problem);
    expect(await input.getAttribute('aria-invalid')).toBe('true');
    expect(await page.locator('#read-result').isHidden()).toBe(true);
    await input.fill(DISCORD);
    await shows(page, '#read-moment', '30 April 2016');
    expect(await input.getAttribute('aria-invalid')).toBeNull();
  });

  it('copies each form', async () => {
    await paste(DISCORD);
    const forms = { 'ISO 8601': '2016-04-30T11:18:25.796Z', 'Unix ms': '1462015105796', Hex: '0x271065ac1020007' };
    for (const [name, text] of Object.entries(forms)) {
      const button = page.getByRole('button', { name: `Copy ${name}` });
      await button.click();
      await button.getByText('Copied').waitFor();
      expect(await page.evaluate('navigator.clipboard.readText()')).toBe(text);
    }
  });

  it('lights the card of a bit, and the bits of a card', async () => {
    await paste(DISCORD);
    await page.locator('#read-bits .bit').last().hover();
    expect(await page.locator('#read-fields .lit').allTextContents()).toEqual([expect.stringContaining('Sequence')]);
    expect(await page.locator('#read-bits .lit').count()).toBe(12);
    await page.locator('#read-fields .card').first().hover();
    expect(await page.locator('#read-bits .lit').count()).toBe(42);
    await page.getByRole('heading', { level: 1 }).hover();
    expect(await page.locator('.lit').count()).toBe(0);
  });

  it('reads many lines into a table with intervals, and as CSV', async () => {
    await paste(`${DISCORD}\n"80351110224678912",\n\nhello\n175928851493421064`);
    await shows(page, '#read-many-said', '4 IDs, 1 of them no IDs.');
    const rows = await page.locator('#read-rows tr').allTextContents();
    expect(rows.map((row) => row.replace(/\s+/g, ' '))).toEqual([
      expect.stringContaining('Discord2016-04-30 11:18:25.796327'),
      expect.stringContaining('2015-08-10 17:26:37.529−263.74 d'),
      'hellono ID',
      expect.stringMatching(/Discord2016-04-30 11:18:26\.796\+263\.74 d/),
    ]);
    await page.getByRole('button', { name: 'Copy as CSV' }).click();
    await page.getByText('Copied').waitFor();
    const csv = await page.evaluate<string>('navigator.clipboard.readText()');
    expect(csv.split('\r\n').slice(0, 2)).toEqual([
      'id,system,time,after,worker,sequence',
      `${DISCORD},Discord,2016-04-30T11:18:25.796Z,,32,7`,
    ]);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download CSV' }).click(),
    ]);
    expect(download.suggestedFilename()).toBe('ids.csv');
  });

  it('and of a thousand lines and more the first thousand', async () => {
    // At once, as a paste is: Playwright types line by line.
    await page.evaluate(`
      const input = document.getElementById('read-id');
      input.value = Array.from({ length: 1500 }, (_, n) => String(175928847299117063n + BigInt(n))).join('\\n');
      input.dispatchEvent(new Event('input'));
    `);
    await shows(page, '#read-many-said', 'The first 1,000 of 1,500 are shown.');
    expect(await page.locator('#read-rows tr').count()).toBe(1_000);
  });
});
