import { parseId, createLayout } from '@raindrop/core';
import type { Browser, Page } from 'playwright-core';
import { serviceLayout } from '../../../apps/id-service/src/service-layout.js';
import { openChromium } from './chromium.js';
import { until } from '../../support/until.js';
import { openPage, type OpenedPage } from './opened-page.js';
import { startService, type PageService } from './page-service.js';
import { readNewId } from './read-new-id.js';
import { shows } from './shows.js';

const API_KEY = 'key-of-the-page-tests';
const layout = createLayout(serviceLayout, Date.now());

/** The number in a text such as `1,204`. */
const numberIn = async (page: Page, selector: string): Promise<number> =>
  Number(((await page.locator(selector).textContent()) ?? '').replaceAll(/[^\d.]/g, ''));

describe('The page', () => {
  let browser: Browser;
  let services: readonly [PageService, PageService];
  let opened: OpenedPage;
  let page: Page;

  beforeAll(async () => {
    [browser, ...services] = await Promise.all([
      openChromium(),
      startService({ apiKey: API_KEY }),
      startService({ historyDays: 30 }),
    ]);
  });

  afterAll(async () => {
    await browser?.close();
    await Promise.all((services ?? []).map((service) => service.stop()));
  });

  const open = async ({ url }: PageService): Promise<void> => {
    opened = await openPage(browser, url);
    ({ page } = opened);
  };

  /** One page for all of a part: each test begins with typing over what the one before has typed. */
  const useOnePage = (): void => {
    beforeAll(() => open(services[0]));
    afterEach(() => {
      // The browser itself notes each request that was refused, as some shall be.
      expect(opened.complaints.filter((each) => !/Failed to load.* status of 40[01]/.test(each))).toEqual([]);
      expect([...opened.origins]).toEqual([new URL(services[0].url).origin]);
    });
    afterAll(() => opened?.close());
  };

  describe('reads an ID', () => {
    useOnePage();

    const parts = { tick: layout.timeline.tickAt(Date.parse('2026-03-14T15:09:26Z')), workerId: 3, clockBack: 1 };
    const id = layout.pack({ ...parts, sequence: 1_234 });

    it('that a person pastes: its time, worker and sequence, and the service reads the same', async () => {
      await page.getByLabel('ID or text').fill(`  "${id}",`);
      await shows(page, '#read-moment', '14 March 2026, 15:09:26 UTC');
      await shows(page, '#read-aside', /ago · worker 3 · sequence 1,234 · likely issued by this service$/);
      await shows(page, '#read-fields', /Clock-back1 bit1/);
      await shows(page, '#read-check', '✓ The service confirms this.');
      expect(await page.locator('#read-bits').textContent()).toBe(id.toString(2).padStart(64, '0'));
      expect(await page.locator('#read-bits').getAttribute('aria-label')).toBe(
        '64 bits: Sign 1 bit holding 0, Timestamp 33 bits holding ' +
          `${parts.tick}, Worker 10 bits holding 3, Clock-back 1 bit holding 1, Sequence 18 bits holding 1234, End 1 bit holding 0`,
      );
    });

    it('that was just taken', async () => {
      const beforeMs = Date.now();
      const taken = await readNewId(page, () => page.getByRole('button', { name: 'Get a new ID' }).click());
      await shows(page, '#read-aside', /^(just now|\d+ seconds? ago) · worker \d+ · sequence /);
      await shows(page, '#read-check', '✓');
      const takenMs = parseId(layout, taken).time.getTime();
      // A tick is a second.
      expect(takenMs).toBeGreaterThan(beforeMs - 1_000);
      expect(takenMs).toBeLessThanOrEqual(Date.now());
    });

    it('and doubts one that cannot be of this service', async () => {
      await page.getByLabel('ID or text').fill('1541815603606036481');
      await page.getByLabel('Issued by').selectOption('own');
      await shows(page, '#read-notes', 'Unlikely: this time is in the future.');
      await shows(page, '#read-notes', 'Its end bits are 1');
      expect(await page.locator('#read-check').textContent()).toBe('');
    });
  });

  describe('plans a layout', () => {
    useOnePage();

    beforeEach(() =>
      page.evaluate(`(() => {
        const form = document.getElementById('plan-form');
        form.reset();
        form.dispatchEvent(new Event('input'));
      })()`),
    );

    it('whose lifetime and speed move with a slider, as the service has it', async () => {
      const slider = page.getByRole('slider', { name: 'Timestamp' });
      await shows(page, '#plan-figures', '272 years');
      await slider.fill('34');
      await shows(page, '#plan-figures', /Lifetime544 yearsuntil 30 May 2570IDs per second131,072/);
      expect(await slider.getAttribute('aria-valuetext')).toBe('34 bits');
      expect(await page.locator('#plan-bits .bit.time').count()).toBe(34);
      expect(await page.locator('#plan-bits .bit.sequence').count()).toBe(17);
      await page.getByRole('slider', { name: 'Worker' }).fill('6');
      await shows(page, '#plan-figures', /IDs per second2\.1Mof each worker/);
      await shows(page, '#plan-figures', /Workers63processes at once, ids 1 to 63/);
      await shows(page, '#plan-code', 'timeStampLength: 34,\n  workIdLength: 6,');
      await shows(page, '#plan-check', '✓ Planned by the service.');
    });

    it('for a part of the worker ids, and with what the end bits hold', async () => {
      await page.getByLabel('First worker id').fill('100');
      await page.getByLabel('Last worker id').fill('199');
      await page.getByRole('slider', { name: 'End bits' }).fill('3');
      await page.getByLabel('Value of the end bits').fill('5');
      await shows(page, '#plan-figures', /Workers100processes at once, ids 100 to 199/);
      await shows(
        page,
        '#plan-code',
        '  endBitsLength: 3,\n  serviceMinWorkId: 100,\n  serviceMaxWorkId: 199,\n  endBitsValue: 5,',
      );
      expect(await page.locator('#plan-bits .bit.fixed').allTextContents()).toEqual(['1', '0', '1']);
      expect(await page.locator('#plan-bits').getAttribute('aria-label')).toContain('End 3 bits holding 5');
      await shows(page, '#plan-check', '✓ Planned by the service.');
    });

    it.each([
      ['First worker id', '1024', '“First worker id” is out of range: must be an integer from 0 to 1023;'],
      ['Last worker id', '1.5', '“Last worker id” must be an integer from 0 to 1023;'],
      ['Last worker id', '0', '“First worker id” must not be greater than serviceMaxWorkId, 0.'],
      ['Value of the end bits', '2', '“Value of the end bits” is out of range: must be an integer from 0 to 1;'],
    ])('and says what is wrong with %s %s', async (label, value, problem) => {
      await page.getByLabel(label).fill(value);
      await shows(page, '#plan-problem', problem);
      const wrong = page.locator('#plan-form [aria-invalid=true]');
      expect(await wrong.count()).toBe(1);
      expect(problem).toContain(await page.locator(`label[for=${await wrong.getAttribute('id')}]`).textContent());
      await page.getByLabel(label).fill('');
      await shows(page, '#plan-problem', /^$/);
      expect(await wrong.count()).toBe(0);
    });

    it('and holds nothing in end bits that are not there', async () => {
      await page.getByLabel('Value of the end bits').fill('1');
      await page.getByRole('slider', { name: 'End bits' }).fill('0');
      expect(await page.getByLabel('Value of the end bits').isDisabled()).toBe(true);
      await shows(page, '#plan-check', '✓ Planned by the service.');
      expect(await page.locator('#plan-code').textContent()).not.toContain('endBitsValue');
    });

    it('and shows the warnings of the service', async () => {
      await page.getByLabel('Expected processes').fill('600');
      await page.getByRole('slider', { name: 'End bits' }).fill('0');
      await shows(page, '#plan-warnings', 'use at least two per node');
      await shows(page, '#plan-warnings', 'use endBitsLength 1');
    });

    it('unless no bit is left for the sequence', async () => {
      const top = (): Promise<number> =>
        page.evaluate<number>(`scrollY + document.getElementById('plan-form').getBoundingClientRect().top`);
      const before = await top();
      await page.getByRole('slider', { name: 'Timestamp' }).fill('55');
      await shows(
        page,
        '#plan-problem',
        '“Timestamp” leaves no sequence bit: 63 - 55 - workIdLength 10 - 1 - endBitsLength 1 = -4',
      );
      expect(await page.locator('#plan-bits').getAttribute('class')).toContain('impossible');
      expect(await top()).toBe(before);
      await page.getByRole('slider', { name: 'Timestamp' }).fill('40');
      await shows(page, '#plan-figures', /Lifetime34,8\d\d years/);
      expect(await page.locator('#plan-problem').textContent()).toBe('');
    });

    it('and says what is wrong with a day or a number', async () => {
      await page.getByLabel('Epoch').fill('2999-01-01');
      await shows(page, '#plan-problem', '“Epoch” is in the future');
      await page.getByLabel('Epoch').fill('');
      await shows(page, '#plan-problem', '“Epoch” is not a date');
      await page.getByLabel('Epoch').fill('2026-01-01');
      await page.getByLabel('Expected IDs per second per process').fill('0');
      await shows(
        page,
        '#plan-problem',
        '“Expected IDs per second per process” is out of range: must be an integer from 1 to',
      );
    });

    it('and passes on why the service refuses one', async () => {
      await page.getByLabel('Epoch').fill('1950-01-01');
      await page.getByRole('slider', { name: 'Timestamp' }).fill('31');
      await shows(page, '#plan-problem', 'Timestamp: the layout expires at 2018-01-19T03:14:08.000Z');
    });

    it('within what a unit allows', async () => {
      await page.getByLabel('Time unit').selectOption('millisecond');
      await shows(page, '#plan-time-out', '43 bits');
      await shows(page, '#plan-check', '✓ Planned by the service.');
      await shows(page, '#plan-warnings', 'Milliseconds are sensitive to clock corrections');
      await page.getByLabel('Time unit').selectOption('day');
      await shows(page, '#plan-time-out', '17 bits');
      await shows(page, '#plan-check', '✓ Planned by the service.');
    });
  });

  describe('takes IDs', () => {
    useOnePage();

    /** The page's next second: it asks how many IDs were issued, and draws it. */
    const nextSecond = async (): Promise<void> => {
      const newest = async (): Promise<string | undefined> =>
        (await page.locator('#chart-table tbody tr').allTextContents())[0];
      const before = await newest();
      await page.clock.runFor(1_000);
      await until('the chart goes on', async () => (await newest()) !== before);
    };

    it('and the chart moves', async () => {
      await page.clock.install();
      await page.reload();
      await page.getByText('Ready', { exact: true }).waitFor();
      await page.clock.pauseAt(Date.now() + 1_000);
      await nextSecond();
      await nextSecond();
      await shows(page, '#chart-now', /^0$/);
      await page.getByLabel('How many').fill('5000');
      await page.getByRole('button', { name: 'Get', exact: true }).click();
      await shows(page, '#take-said', /^5,000 IDs in \d+ ms/);
      await shows(page, '#take-list', 'and 4,996 more');
      await nextSecond();
      await shows(page, '#chart-now', /^5,000$/);
      const label = await page.locator('#chart').getAttribute('aria-label');
      expect(label).toBe('Now 5,000 IDs per second; the highest of the last minute is 5,000');
      expect(await page.locator('#chart .line').getAttribute('points')).toMatch(/\d,\d.* .*\d,\d/);
      await page.getByText('The last ten seconds as a table').click();
      expect(await page.locator('#chart-table tbody tr').first().textContent()).toMatch(/^\d\d:\d\d:\d\d UTC5,000$/);
      await page.clock.resume();
    });

    it('on and on until told to stop', async () => {
      await page.getByLabel('How many').fill('100');
      await page.getByRole('button', { name: 'Repeat' }).click();
      const seen = new Set<string | null>();
      const first = page.locator('#take-list button').first();
      await until('IDs are taken again and again', async () => seen.add(await first.textContent()).size > 3);
      await until('the chart shows it', async () => (await numberIn(page, '#chart-now')) > 0);
      await page.getByRole('button', { name: 'Stop' }).click();
      await shows(page, '#take-said', /^[\d,]+ IDs issued\.$/);
      const taken = await numberIn(page, '#take-said');
      expect(taken).toBeGreaterThanOrEqual(300);
      await shows(page, '#chart-now', /^0$/);
      expect(await numberIn(page, '#take-said')).toBe(taken);
    });

    it('of which each can be read', async () => {
      await page.getByLabel('How many').fill('50');
      await page.getByRole('button', { name: 'Get', exact: true }).click();
      // Until then the list is that of the IDs before.
      await shows(page, '#take-said', /^50 IDs in/);
      const first = page.locator('#take-list button').first();
      const id = (await first.textContent())!;
      await first.click();
      expect(await page.getByLabel('ID or text').inputValue()).toBe(id);
      await shows(page, '#read-aside', /worker \d+/);
      expect(await page.evaluate('document.activeElement.id')).toBe('read-id');
    });

    it('but not a wrong number of them', async () => {
      const before = await page.locator('#take-list').innerHTML();
      const asked: string[] = [];
      page.on('request', (request) => asked.push(request.url()));
      for (const count of ['0', '10001', '1.5', '']) {
        await page.getByLabel('How many').fill(count);
        await shows(page, '#take-problem', 'Enter a whole number from 1 to 10,000.');
        await page.getByRole('button', { name: 'Get', exact: true }).click();
        await page.getByLabel('How many').fill('7');
        await shows(page, '#take-problem', /^$/);
      }
      expect(asked.filter((url) => url.includes('/v1/ids?count='))).toEqual([]);
      expect(await page.locator('#take-list').innerHTML()).toBe(before);
    });
  });

  describe('shows the workers', () => {
    useOnePage();

    const showWorkers = async (page: Page, key: string): Promise<void> => {
      await page.getByLabel('API key').fill(key);
      await page.getByRole('button', { name: 'Show workers' }).click();
    };

    it('to no user before there is a key, and asks for nothing', async () => {
      const asked: string[] = [];
      page.on('request', (request) => asked.push(request.url()));
      await page.getByRole('button', { name: 'Show workers' }).click();
      await shows(page, '#workers-problem', 'Enter the API key first.');
      expect(await page.evaluate('document.activeElement.id')).toBe('workers-key');
      expect(asked.filter((url) => url.includes('v1/workers'))).toEqual([]);
    });

    it.each([
      ['wrong-key-of-the-tests', 'The service does not accept this key.'],
      ['clé', 'ASCII characters without blanks'],
    ])('but not to who has the key "%s"', async (key, problem) => {
      await showWorkers(page, key);
      await shows(page, '#workers-problem', problem);
      expect(await page.locator('#workers-scroll').isHidden()).toBe(true);
    });

    it('to who has the key: leases shrink', async () => {
      await showWorkers(page, API_KEY);
      await shows(page, '#workers-said', /^\d+ held, \d+ free, 64 in all\.$/);
      const row = page.locator('#workers-rows tr[data-state=held]').first();
      expect(await row.textContent()).toMatch(/held\d/);
      const left = new Set<string>();
      const bars = new Set<string>();
      await until('the lease and its bar change', async () => {
        left.add((await row.locator('.lease-text').textContent())!);
        bars.add((await row.locator('.bar span').getAttribute('style'))!);
        return left.size > 2 && bars.size > 2;
      });
    });

    it('after a reload as well, until the key is forgotten', async () => {
      await showWorkers(page, API_KEY);
      await shows(page, '#workers-said', 'held');
      await page.reload();
      await shows(page, '#workers-said', 'held');
      expect(await page.evaluate('JSON.stringify(localStorage)')).not.toContain(API_KEY);
      await page.getByRole('button', { name: 'Forget the key' }).click();
      expect(await page.evaluate('sessionStorage.length')).toBe(0);
      expect(await page.getByLabel('API key').inputValue()).toBe('');
      expect(await page.locator('#workers-rows tr').count()).toBe(0);
    });
  });

  it('issues nothing when it is loaded', async () => {
    const issued = async (): Promise<unknown> =>
      ((await (await fetch(`${services[1].url}/v1/status`)).json()) as { issued: number }).issued;
    const before = await issued();
    await open(services[1]);
    await shows(page, '#plan-check', '✓ Planned by the service.');
    await page.waitForRequest('**/v1/status');
    expect(await issued()).toBe(before);
    expect(await page.getByLabel('ID or text').inputValue()).toBe('');
    expect(await page.locator('#read-result').isHidden()).toBe(true);
    expect(await page.locator('#read-fields').textContent()).toContain('Timestamp33 bits–');
    await opened.close();
  });

  it('names the process that issued an ID, where the service keeps a history', async () => {
    await open(services[1]);
    await readNewId(page, () => page.getByRole('button', { name: 'Get a new ID' }).click());
    await shows(
      page,
      '#read-check',
      /^✓ The service confirms this\. Issued by \S+, process \d+\. .+ holds worker \d+ now\.$/,
    );
    await opened.close();
  });

  it('names the function of the database that issued an ID', async () => {
    await open(services[1]);
    // The page's services have SQLite, which makes no IDs: only what the service says of it is another.
    await page.route(/\/v1\/ids\/\d+$/, async (route) => {
      const answer = (await (await route.fetch()).json()) as object;
      const origin = { finding: 'by-database', issuer: null };
      await route.fulfill({ json: { ...answer, holder: 'public.raindrop_id', origin } });
    });
    await readNewId(page, () => page.getByRole('button', { name: 'Get a new ID' }).click());
    await shows(
      page,
      '#read-check',
      /^✓ The service confirms this\. Issued by the database\. public\.raindrop_id holds worker \d+ now\.$/,
    );
    await opened.close();
  });

  it.each([1280, 390])('puts the input first, and what belongs together in one line: %i px', async (width) => {
    opened = await openPage(browser, services[1].url, { viewport: { width, height: 900 } });
    ({ page } = opened);
    const boxOf = async (selector: string) => (await page.locator(selector).boundingBox())!;
    expect((await boxOf('#read-id')).y).toBeLessThan(260);
    expect(
      await page.evaluate(`(({ scrollHeight, clientHeight }) => scrollHeight <= clientHeight)(
      document.getElementById('read-id'))`),
    ).toBe(true);
    await readNewId(page, () => page.getByRole('button', { name: 'Get a new ID' }).click());
    const form = await boxOf('#read-form');
    const [clocks, share] = [await boxOf('#read-clock'), await boxOf('#read-share')];
    if (width > 640) expect(share.x + share.width).toBeCloseTo(form.x + form.width, 0);
    else expect(clocks.x).toBeGreaterThanOrEqual(form.x);
    const examples = await page.evaluate<{ x: number; y: number }[]>(
      `[...document.getElementById('read-examples').children].map((each) => each.getBoundingClientRect().toJSON())`,
    );
    const firsts = examples.filter(({ y }, at) => at === 0 || y > examples[at - 1]!.y + 9);
    for (const { x } of firsts) expect(x).toBeCloseTo(form.x, 0);
    await opened.close();
  });

  it('says what it is, and how it is installed', async () => {
    await open(services[1]);
    await shows(page, '.lead', 'unique 63-bit IDs that sort by time');
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByRole('button', { name: 'Copy the command: npm ci && npm run pack' }).click();
    await shows(page, '#copied', 'the command copied.');
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe('npm ci && npm run pack -- ../shop --write');
    await opened.close();
  });

  it('shows them at once where the service listens on this host alone and has no keys', async () => {
    await open(services[1]);
    await shows(page, '#workers-said', /^1 held, 63 free, 64 in all\.$/);
    expect(await page.locator('#workers-form').isHidden()).toBe(true);
    const map = page.getByRole('img', { name: 'Worker ids: 1 held, 63 free' });
    expect(await map.locator('.slot').count()).toBe(64);
    await shows(page, '#workers-rows', 'held');
    await shows(page, '#events', /\d\d:\d\d:\d\d UTC Worker id leased/);
    await opened.close();
  });
});
