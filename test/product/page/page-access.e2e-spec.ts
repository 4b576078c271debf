import { readFileSync } from 'node:fs';
import type { AxeResults, RunOptions } from 'axe-core';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { openChromium } from './chromium.js';
import { until } from '../../support/until.js';
import { openPage, type OpenedPage } from './opened-page.js';
import { startService, type PageService } from './page-service.js';
import { readNewId } from './read-new-id.js';
import { shows } from './shows.js';

const API_KEY = 'key-of-the-page-tests';
const RULES = {
  runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
  // What passes need not be described.
  resultTypes: ['violations'],
} satisfies RunOptions;
const COLOURS = {
  runOnly: { type: 'rule', values: ['color-contrast'] },
  resultTypes: ['violations'],
} satisfies RunOptions;
const AXE = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

/** What axe finds, in one line each. */
async function violationsOf(page: Page, rules: RunOptions = RULES): Promise<string[]> {
  // Not as a script element, which the page's policy forbids.
  if (!(await page.evaluate<boolean>(`'axe' in globalThis`))) await page.evaluate(AXE);
  const { violations } = await page.evaluate<AxeResults>(`axe.run(${JSON.stringify(rules)})`);
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html, any }) => `${id}: ${html} ${any[0]?.message ?? ''}`));
}

describe('The page is for everybody', () => {
  let browser: Browser;
  let service: PageService;
  let opened: OpenedPage | undefined;

  beforeAll(async () => {
    [browser, service] = await Promise.all([openChromium(), startService({ apiKey: API_KEY })]);
  });

  afterEach(async () => {
    await opened?.close();
    opened = undefined;
  });

  afterAll(async () => {
    await browser?.close();
    await service?.stop();
  });

  const open = async (options?: BrowserContextOptions): Promise<Page> => {
    opened = await openPage(browser, service.url, options);
    return opened.page;
  };

  const focused = (page: Page): Promise<string> =>
    page.evaluate<string>(`(({ id, textContent }) => id || textContent.trim())(document.activeElement)`);

  const fill = async (page: Page): Promise<void> => {
    await page.getByRole('button', { name: 'Get a new ID' }).click();
    await page.getByRole('button', { name: 'Get', exact: true }).click();
    await page.getByLabel('API key').fill(API_KEY);
    await page.getByRole('button', { name: 'Show workers' }).click();
    await page.getByRole('slider', { name: 'End bits' }).fill('0');
    await shows(page, '#plan-warnings', 'use endBitsLength 1');
    await shows(page, '#take-list', 'more');
    await shows(page, '#read-check', '✓');
    await shows(page, '#workers-said', 'held');
    await page.getByText('The last ten seconds as a table').click();
  };

  /** Every rule at both widths; colours, which are all that a theme changes, in both themes as well. */
  const VIEWS = [
    ['light', 320, RULES],
    ['dark', 320, COLOURS],
    ['light', 1_280, COLOURS],
    ['dark', 1_280, RULES],
  ] as const;

  /** Of each theme at each width: what axe finds, and how wide the page is beyond its window. */
  const findings = async (page: Page): Promise<unknown[]> => {
    const found: unknown[] = [];
    for (const [colorScheme, width, rules] of VIEWS) {
      await page.setViewportSize({ width, height: 800 });
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      const cutOff = (await page.evaluate<number>('document.documentElement.scrollWidth')) - width;
      found.push({ colorScheme, width, cutOff, violations: await violationsOf(page, rules) });
    }
    return found;
  };

  const NOTHING = VIEWS.map(([colorScheme, width]) => ({ colorScheme, width, cutOff: 0, violations: [] }));

  it('axe finds nothing in either theme, narrow or wide: empty, full, with many IDs or full of mistakes', async () => {
    const page = await open();
    expect(await findings(page)).toEqual(NOTHING);
    await fill(page);
    expect(await findings(page)).toEqual(NOTHING);
    await page.getByRole('button', { name: 'Log', exact: true }).click();
    await page.getByLabel('Years').fill('900');
    await page.getByLabel('Exact JavaScript numbers').check();
    await page.getByRole('button', { name: 'Recommend' }).click();
    await shows(page, '#advice', 'Does not meet your needs');
    await shows(page, '#read-many-said', '6 IDs');
    expect(await findings(page)).toEqual(NOTHING);
    await page.getByRole('button', { name: 'UUID', exact: true }).click();
    await shows(page, '#read-aside', 'UUID of version 7');
    expect(await findings(page)).toEqual(NOTHING);
    await page.getByLabel('ID or text').fill('x');
    await page.getByLabel('How many').fill('0');
    await page.getByRole('slider', { name: 'Timestamp' }).fill('55');
    await page.getByLabel('API key').fill('');
    await page.getByRole('button', { name: 'Show workers' }).click();
    for (const problem of ['#read-problem', '#take-problem', '#plan-problem', '#workers-problem']) {
      await shows(page, problem, /./);
    }
    expect(await findings(page)).toEqual(NOTHING);
    // The browser itself notes the plan that was refused; the page's scripts fail at none.
    expect(opened!.complaints.filter((each) => !each.includes('Failed to load resource'))).toEqual([]);
  });

  it('a refusal stays when an answer comes that was asked for before', async () => {
    const page = await open();
    let answer = (): void => {};
    await page.route('**/v1/workers', async (route) => {
      await new Promise<void>((resolve) => (answer = resolve));
      await route.continue();
    });
    const asked = page.waitForRequest('**/v1/workers');
    await page.getByLabel('API key').fill(API_KEY);
    await page.getByRole('button', { name: 'Show workers' }).click();
    await asked;
    await page.getByLabel('API key').fill('');
    await page.getByRole('button', { name: 'Show workers' }).click();
    await shows(page, '#workers-problem', 'Enter the API key first.');
    const answered = page.waitForResponse('**/v1/workers');
    answer();
    await (await answered).finished();
    // What the page makes of an answer it makes before it answers this.
    await page.evaluate('new Promise((resolve) => setTimeout(resolve))');
    await shows(page, '#workers-problem', 'Enter the API key first.');
    expect(await page.locator('#workers-scroll').isVisible()).toBe(false);
  });

  it('a worker id of the database has words, a pattern and a place in the legend of its own', async () => {
    const page = await open();
    await page.route('**/v1/workers', (route) => {
      const none = { time: null, sequence: 0 };
      const row = {
        leaseLeftMs: null,
        graceLeftMs: null,
        lane: 0,
        odometers: [none, none],
        layout: '',
        heartbeat: null,
      };
      const workers = [
        { ...row, workerId: 1, state: 'free', holder: '' },
        { ...row, workerId: 2, state: 'database', holder: 'public.raindrop_id' },
      ];
      return route.fulfill({ json: { nowMs: Date.now(), workers } });
    });
    await page.getByLabel('API key').fill(API_KEY);
    await page.getByRole('button', { name: 'Show workers' }).click();
    await shows(page, '#workers-rows', 'issued by the database');
    await shows(page, '#workers-rows', 'public.raindrop_id');
    await shows(page, '#workers-map', '1 issued by the database');
    expect(await page.getByRole('img', { name: 'Worker ids: 1 free, 1 issued by the database' }).count()).toBe(1);
    const patternOf = (slot: string): Promise<string> =>
      page.evaluate<string>(`getComputedStyle(document.querySelector('#workers-map .slots ${slot}')).backgroundImage`);
    const patterns = [await patternOf('.free'), await patternOf('.database')];
    expect(patterns).toEqual(['none', expect.stringContaining('linear-gradient')]);
    expect(await violationsOf(page)).toEqual([]);
  });

  it('long numbers and long names fit into a phone', async () => {
    const page = await open({ viewport: { width: 320, height: 800 } });
    await page.route('**/v1/workers', (route) => {
      const time = '2026-11-21T08:16:35.000Z';
      const odometers = [
        { time, sequence: 262_143 },
        { time: null, sequence: 0 },
      ];
      const holder = `${'a-very-long-host-name-without-a-blank'.repeat(4)}:1:a3f81b`;
      const row = { state: 'held', holder, leaseLeftMs: 86_400_000, graceLeftMs: 86_400_000, lane: 0, odometers };
      const workers = [{ ...row, workerId: 1_023, layout: '', heartbeat: time }];
      return route.fulfill({ json: { nowMs: Date.now(), workers } });
    });
    await page.getByLabel('API key').fill(API_KEY);
    await page.getByRole('button', { name: 'Show workers' }).click();
    await shows(page, '#workers-rows', 'a-very-long');
    await page.getByLabel('ID or text').fill('9223372036854775807');
    await page.getByLabel('Issued by').selectOption('own');
    await shows(page, '#read-moment', '2298');
    await page.getByLabel('Time unit').selectOption('day');
    await page.getByRole('slider', { name: 'Timestamp' }).fill('40');
    await page.getByLabel('Expected IDs per second per process').fill('9007199254740991');
    await shows(page, '#plan-warnings', '9007199254740991');
    expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBe(320);
    const cut = await page.evaluate<string[]>(`[...document.querySelectorAll('main *')]
      .filter((each) => !each.closest('.unseen, pre, .scroll, svg, .bit') && each.scrollWidth > each.clientWidth + 1 && each.clientWidth > 0)
      .map(({ id, className, textContent }) => id + ' ' + className + ' ' + textContent.slice(0, 40))`);
    expect(cut).toEqual([]);
  });

  describe('as it comes', () => {
    let shared: OpenedPage;
    let page: Page;

    beforeAll(async () => {
      shared = await openPage(browser, service.url);
      ({ page } = shared);
    });

    afterAll(() => shared?.close());

    it('shows where the focus is', async () => {
      for (let steps = 0; steps < 14; steps++) {
        await page.keyboard.press('Tab');
        const outline = await page.evaluate<string>('getComputedStyle(document.activeElement).outlineStyle');
        expect([await focused(page), outline]).toEqual([expect.anything(), 'solid']);
      }
    });

    it('says the chart in words, and in a table', async () => {
      const words = /^Now [\d,]+ IDs per second; the highest of the last minute is [\d,]+$/;
      const label = async (): Promise<string> => (await page.locator('#chart').getAttribute('aria-label')) ?? '';
      await until('the chart has words', async () => words.test(await label()));
      expect(await page.getByRole('img', { name: words }).count()).toBe(1);
      await page.getByText('The last ten seconds as a table').click();
      expect(await page.getByRole('columnheader', { name: 'IDs per second' }).count()).toBe(1);
      // Everything that is typed into has a name.
      const names = await page.evaluate<string[]>(`[...document.querySelectorAll('input, select')]
        .map(({ labels }) => [...labels].map(({ textContent }) => textContent).join())`);
      expect(names).not.toContain('');
      expect(new Set(names).size).toBe(names.length);
    });

    it('axe sees what there is to see: a grey text on grey', async () => {
      await page.evaluate(`document.querySelector('#read-title').style.color = '#999'`);
      expect(await violationsOf(page)).toEqual([expect.stringContaining('color-contrast')]);
    });
  });

  it('works with the keyboard alone', async () => {
    const page = await open();
    const press = async (...keys: string[]): Promise<void> => {
      for (const key of keys) await page.keyboard.press(key);
    };
    await press('Tab');
    expect(await focused(page)).toBe('Skip to the decoder');
    await press('Enter');
    expect(await focused(page)).toBe('read-id');
    await press('Tab', 'Tab');
    expect(await focused(page)).toBe('read-new');
    await readNewId(page, () => press('Enter'));
    const order: string[] = [];
    const tabTo = async (last: string): Promise<void> => {
      do {
        await press('Tab');
        order.push(await focused(page));
      } while (order.at(-1) !== last && order.length < 150);
    };
    await tabTo('take-count');
    expect(order).toEqual(expect.arrayContaining(['Discord message', 'read-moment', 'ISO 8601', 'read-share']));
    expect(order.filter((each) => each.endsWith('Copy'))).toHaveLength(4);
    await press('Enter');
    await shows(page, '#take-list', 'and 996 more');
    await press('Tab', 'Tab', 'Tab', 'Enter');
    expect(await focused(page)).toBe('read-id');
    order.length = 0;
    await tabTo('plan-copy');
    const after = [
      'read-new',
      'take-kind',
      'take-count',
      'take-once',
      'take-copy',
      'advise-processes',
      'advise-numbers',
      'advise',
      'plan-unit',
      'plan-time',
      'plan-worker',
      'plan-first',
      'plan-last',
      'plan-end',
      'plan-end-value',
      'plan-copy',
    ];
    expect(order.filter((each) => after.includes(each))).toEqual(after);
    await page.locator('#plan-time').focus();
    await press('ArrowRight');
    await shows(page, '#plan-figures', '544 years');
    await page.locator('#workers-key').focus();
    await page.keyboard.type(API_KEY);
    await press('Enter');
    await shows(page, '#workers-said', 'held');
  });

  it('says nothing aloud while nothing happens, with IDs being taken and leases shrinking', async () => {
    const page = await open({ reducedMotion: 'reduce' });
    await fill(page);
    await page.getByRole('button', { name: 'Repeat' }).click();
    await shows(page, '#take-said', 'Repeats until you stop it.');
    // What was typed before is told a moment later.
    await shows(page, '#plan-check', '✓');
    await page.evaluate(`
      globalThis.said = [];
      const watch = new MutationObserver((changes) => said.push(...changes.map(({ target }) => target.textContent)));
      for (const region of document.querySelectorAll('[role=status], [role=alert], [aria-live]')) {
        watch.observe(region, { childList: true, characterData: true, subtree: true });
      }
    `);
    // Two more answers of the service, each a second after the one before.
    for (let answers = 0; answers < 2; answers++) {
      const before = await page.locator('#facts').textContent();
      await until('the service answers again', async () => (await page.locator('#facts').textContent()) !== before);
    }
    expect(await page.evaluate('said')).toEqual([]);
  });

  it('moves no bar smoothly for who wants less motion', async () => {
    const page = await open();
    await page.getByLabel('API key').fill(API_KEY);
    await page.getByRole('button', { name: 'Show workers' }).click();
    await shows(page, '#workers-said', 'held');
    const durations: number[] = [];
    for (const reducedMotion of ['reduce', 'no-preference'] as const) {
      await page.emulateMedia({ reducedMotion });
      const bar = `getComputedStyle(document.querySelector('.bar span')).transitionDuration`;
      durations.push(parseFloat(await page.evaluate<string>(bar)));
    }
    expect(durations[0]).toBe(0);
    expect(durations[1]).toBeGreaterThan(0);
  });

  it('follows the system, until a theme is chosen, which stays', async () => {
    const page = await open({ colorScheme: 'dark' });
    const ground = (): Promise<string> => page.evaluate<string>('getComputedStyle(document.body).backgroundColor');
    const button = page.getByRole('button', { name: 'Dark theme' });
    const dark = await ground();
    expect(await button.getAttribute('aria-pressed')).toBe('true');
    await page.emulateMedia({ colorScheme: 'light' });
    const light = await ground();
    expect(light).not.toBe(dark);
    await until('the button tells the theme', async () => (await button.getAttribute('aria-pressed')) === 'false');
    await button.click();
    expect(await ground()).toBe(dark);
    await page.reload();
    expect(await ground()).toBe(dark);
    await until('the button tells the theme', async () => (await button.getAttribute('aria-pressed')) === 'true');
  });

  it('its API reference loads nothing from elsewhere and breaks no policy', async () => {
    const { page, complaints, origins, close } = await openPage(browser, service.url);
    await page.getByRole('link', { name: 'API reference' }).click();
    await page.getByText('Decode an ID').waitFor();
    await page.locator('.opblock-summary').first().click();
    await page.getByText('Responses', { exact: true }).first().waitFor();
    expect(complaints).toEqual([]);
    expect([...origins].filter((origin) => origin !== 'null')).toEqual([service.url]);
    await close();
  });
});
