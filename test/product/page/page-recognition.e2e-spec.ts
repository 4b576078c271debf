import type { Browser, Page } from 'playwright-core';
import { openChromium } from './chromium.js';
import { openPage, type OpenedPage } from './opened-page.js';
import { startService, type PageService } from './page-service.js';
import { shows } from './shows.js';

const DISCORD = '175928847299117063';
const TWEET = '1541815603606036480';
const NUMBER = '238206311858190';
const UUID = '018e9f2a-1b2c-7def-8abc-0123456789ab';

describe('The page recognises what is pasted', () => {
  let browser: Browser;
  let service: PageService;
  let opened: OpenedPage;
  let page: Page;

  beforeAll(async () => {
    [browser, service] = await Promise.all([openChromium(), startService({ allowedHosts: 'ids.example' })]);
    opened = await openPage(browser, service.url);
    ({ page } = opened);
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

  const paste = (text: string): Promise<void> => page.getByLabel('ID or text').fill(text);
  const pressed = (): Promise<string[]> => page.locator('#read-guesses [aria-pressed=true]').allTextContents();

  it.each([
    [DISCORD, 'Discord, 30 Apr 2016: likely', '30 April 2016, 11:18:25.796 UTC', 'worker 32 · sequence 7'],
    [TWEET, 'X (Twitter), 28 Jun 2022: likely', '28 June 2022, 16:07:40.105 UTC', 'worker 378 · sequence 0'],
    [
      NUMBER,
      "Raindrop's layout 'number', 25 Nov 2026: likely",
      '25 November 2026, 15:53:25 UTC',
      'worker 52 · sequence 7',
    ],
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
    await shows(page, '#read-aside', 'possibly issued by X (Twitter)');
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
    await shows(other.page, '#read-problem', 'not an ID in any known form');
    await other.close();
  });

  it.each([
    ['<img src=x>', 'This is not an ID in any known form'],
    ['9'.repeat(5_000), 'This is not an ID in any known form'],
    ['2026-11-25', 'This is not an ID in any known form'],
    ['-5', '-5 is a plain number, not an ID.'],
    ['42', '42 is a plain number, not an ID.'],
    ['order 42 of 2026-11-25', 'This is not an ID in any known form'],
  ])('and says what is none: %s', async (text, problem) => {
    const input = page.getByLabel('ID or text');
    await input.fill(text);
    await shows(page, '#read-problem', problem);
    expect(await input.getAttribute('aria-invalid')).toBe('true');
    expect(await page.locator('#read-result').isHidden()).toBe(true);
    await input.fill(DISCORD);
    await shows(page, '#read-moment', '30 April 2016');
    expect(await input.getAttribute('aria-invalid')).toBeNull();
  });

  it.each([
    [UUID, '2 April 2024, 14:15:20.620 UTC', 'UUID of version 7'],
    ['01ARZ3NDEKTSV4RRFFQ69G5FAV', '30 July 2016, 23:54:10.259 UTC', 'ULID'],
    ['507f1f77bcf86cd799439011', '17 October 2012, 21:13:27.000 UTC', 'MongoDB ObjectId'],
    ['1700000000000', '14 November 2023, 22:13:20.000 UTC', 'Unix time in milliseconds'],
    ['f47ac10b-58cc-4372-a567-0e02b2c3d479', undefined, 'UUID of version 4 · it holds no time'],
  ])('and tells the time of %s, which is no snowflake, without an error', async (text, moment, kind) => {
    await paste(text);
    await shows(page, '#read-aside', kind);
    if (moment === undefined) expect(await page.locator('#read-moment').isHidden()).toBe(true);
    else await shows(page, '#read-moment', moment);
    expect(await page.locator('#read-problem').textContent()).toBe('');
    expect(await page.getByLabel('ID or text').getAttribute('aria-invalid')).toBeNull();
    expect(await page.locator('#read-bits').isHidden()).toBe(true);
    expect(await page.locator('#read-fields .card').count()).toBe(0);
  });

  it('has one worker number, where the system has two fields for it', async () => {
    await paste(DISCORD);
    await shows(page, '#read-aside', 'worker 32 ·');
    const cards = await page.locator('#read-fields .card').allTextContents();
    expect(cards).toHaveLength(3);
    expect(await page.locator('#read-bits [data-letter]').count()).toBe(3);
    expect(cards[1]).toBe('WWorker10 bits32worker 1 × 32 + process 0');
    await page.locator('#read-fields .card').nth(1).hover();
    expect(await page.locator('#read-bits .lit').count()).toBe(10);
  });

  const clipboard = (): Promise<string> => page.evaluate<string>('navigator.clipboard.readText()');

  it('copies each form by a click on it', async () => {
    await paste(DISCORD);
    const forms = { 'Unix ms': '1462015105796', Decimal: DISCORD, Hex: '0x271065ac1020007' };
    for (const [name, text] of Object.entries(forms)) {
      const button = page.getByRole('button', { name: `Copy ${name}: ${text}`, exact: true });
      await button.click();
      await button.getByText('Copied').waitFor();
      await shows(page, '#copied', `${name} copied.`);
      expect(await clipboard()).toBe(text);
    }
  });

  it('copies also over plain HTTP from another host, where browsers offer no clipboard', async () => {
    const remote = await openChromium('--host-resolver-rules=MAP ids.example 127.0.0.1');
    try {
      const url = service.url.replace('127.0.0.1', 'ids.example');
      const other = await openPage(remote, `${url}/#id=${DISCORD}`);
      expect(await other.page.evaluate('navigator.clipboard')).toBeUndefined();
      await other.page.getByRole('button', { name: 'Copy Hex: 0x271065ac1020007' }).click();
      await shows(other.page, '#copied', 'Hex copied.');
      const input = other.page.getByLabel('ID or text');
      await input.press('Control+A');
      await input.press('Control+V');
      expect(await input.inputValue()).toBe('0x271065ac1020007');
    } finally {
      await remote.close();
    }
  });

  it('writes the time in UTC, in ISO 8601 or in the local zone, and copies what it shows', async () => {
    const other = await openPage(browser, service.url, { timezoneId: 'Asia/Tokyo', locale: 'en-GB' });
    await other.page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await other.page.getByLabel('ID or text').fill(DISCORD);
    const times = {
      'ISO 8601': /^2016-04-30T11:18:25\.796Z$/,
      Local: /^30 April 2016.* 20:18:25 GMT\+9$/,
      UTC: /^30 April 2016, 11:18:25\.796 UTC$/,
    };
    for (const [name, time] of Object.entries(times)) {
      await other.page.getByRole('button', { name, exact: true }).click();
      await shows(other.page, '#read-moment .value-text', time);
      expect(await other.page.locator('#read-clock [aria-pressed=true]').allTextContents()).toEqual([name]);
      await other.page.locator('#read-moment').click();
      await shows(other.page, '#copied', 'the time copied.');
      expect(await other.page.evaluate('navigator.clipboard.readText()')).toMatch(time);
    }
    await other.close();
  });

  it('shares a link to what it shows', async () => {
    await paste(DISCORD);
    await page.getByRole('button', { name: 'X (Twitter), 3 Mar 2012: possible' }).click();
    await page.getByRole('button', { name: 'Share', exact: true }).click();
    await page.getByText('Link copied').waitFor();
    expect(await clipboard()).toBe(`${service.url}/#id=${DISCORD}&as=twitter`);
    // A link names its system, and so does the link to it.
    await paste(`https://x.com/someone/status/${DISCORD}`);
    expect(new URL(page.url()).hash).toBe(`#id=${DISCORD}&as=twitter`);
  });

  it.each([
    ['Discord message', '30 April 2016'],
    ['X post', '28 June 2022'],
    ['Instagram post', '15 November 2017'],
    ['Raindrop', '25 November 2026'],
    ['UUID', '2 April 2024'],
    ['Log', '21 November 2026'],
  ])('has an example to click: %s', async (name, moment) => {
    await page.locator('#read-examples').getByRole('button', { name, exact: true }).click();
    await shows(page, '#read-moment', moment);
    expect(await page.locator('#read-problem').textContent()).toBe('');
  });

  describe('finds every ID in', () => {
    const OTHER = '197038439483310086';
    const ids = async (): Promise<string[]> =>
      (await page.locator('#read-rows tr').allTextContents()).map((row) =>
        row.replace(/(Discord|X \(Tw|UUID|ULID).*/, ''),
      );

    it.each([
      [
        'JSON',
        `{"id":"${DISCORD}","size":1024,"by":{"id":${OTHER}},"at":"2026-11-25T10:30:00.000Z"}`,
        [DISCORD, OTHER],
      ],
      [
        'SQL',
        `INSERT INTO users (id, name, phone) VALUES (${DISCORD}, 'Ada', '555-123-4567'),\n(${OTHER}, 'Bob', NULL);`,
        [DISCORD, OTHER],
      ],
      [
        'a log',
        `2026-11-25 10:30:00 INFO createdAt1 user=${DISCORD} took 1700000000000\n` +
          `trace 4bf92f3577b34da6 user ${DISCORD} by order-${OTHER} (0.123456789012345678)\n${UUID}: done`,
        [DISCORD, OTHER, UUID],
      ],
      ['CSV', `id,name,total\n${DISCORD},Ada,12.50\n"${OTHER}",Bob,3`, [DISCORD, OTHER]],
      ['links', `see https://x.com/a/status/${TWEET} and <@${DISCORD}>`, [TWEET, DISCORD]],
    ])('%s', async (_kind, text, expected) => {
      await paste(text);
      await shows(page, '#read-many-said', `${expected.length} IDs`);
      expect(await ids()).toEqual(expected);
    });

    it('a text that has one, and shows that', async () => {
      await paste(`{"id":"${DISCORD}","count":42}`);
      await shows(page, '#read-moment', '30 April 2016');
      expect(await page.locator('#read-many').isHidden()).toBe(true);
      expect(new URL(page.url()).hash).toBe(`#id=${DISCORD}`);
    });
  });

  it('shows the table of many first, and the one that a person chooses below it', async () => {
    await paste(`"${DISCORD}" and 80351110224678912`);
    await shows(page, '#read-many-said', '2 IDs · 10 Aug 2015, 17:26:37 to 30 Apr 2016, 11:18:25 UTC · 263 d 17 h');
    const top = async (selector: string): Promise<number> => (await page.locator(selector).boundingBox())!.y;
    expect(await top('#read-many')).toBeLessThan(await top('#read-bits'));
    await shows(page, '#read-moment', '30 April 2016');
    await page.locator('#read-rows button').first().focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await shows(page, '#read-moment', '10 August 2015');
    expect(await page.locator('#read-rows [aria-current]').allTextContents()).toEqual([
      expect.stringContaining('80351110224678912'),
    ]);
  });

  it('shows one guess on a phone, and the others behind a button', async () => {
    const other = await openPage(browser, service.url, { viewport: { width: 375, height: 800 } });
    await other.page.getByLabel('ID or text').fill(DISCORD);
    const guesses = other.page.locator('#read-guesses .guess:visible');
    await shows(other.page, '#read-moment', '30 April 2016');
    const all = await other.page.locator('#read-guesses .guess[aria-pressed]').count();
    expect(await guesses.allTextContents()).toEqual(['Discord, 30 Apr 2016: likely', `${all - 1} more`]);
    await other.page.getByRole('button', { name: `${all - 1} more` }).click();
    expect(await guesses.count()).toBe(all);
    await other.close();
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

  it('reads many lines into a table with gaps, and as CSV', async () => {
    await paste(`${DISCORD}\n"80351110224678912",\n\nhello\n175928851493421064`);
    await shows(page, '#read-many-said', '3 IDs, 1 line without one · 10 Aug 2015');
    const rows = await page.locator('#read-rows tr').allTextContents();
    expect(rows.map((row) => row.replace(/\s+/g, ' '))).toEqual([
      expect.stringContaining('Discord2016-04-30 11:18:25.796327'),
      expect.stringContaining('2015-08-10 17:26:37.529−263.74 d'),
      'hellono ID',
      expect.stringMatching(/Discord2016-04-30 11:18:26\.796\+263\.74 d/),
    ]);
    await page.getByRole('button', { name: 'Copy as CSV' }).click();
    await page.locator('#read-csv-copy').getByText('Copied').waitFor();
    const csv = await page.evaluate<string>('navigator.clipboard.readText()');
    expect(csv.split('\r\n').slice(0, 4)).toEqual([
      'id,system,time,gap_ms,worker,sequence',
      `${DISCORD},Discord,2016-04-30T11:18:25.796Z,,32,7`,
      expect.stringMatching(/^80351110224678912,Discord,2015-08-10T17:26:37.529Z,-22787508267,/),
      'hello,,,,,',
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
