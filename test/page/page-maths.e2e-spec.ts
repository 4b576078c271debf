import {
  ConfigurationError,
  createLayout,
  parseId,
  presets,
  TIME_UNITS,
  type Layout,
  type LayoutOptions,
  type LayoutPlan,
} from '@raindrop/core';
import fc from 'fast-check';
import type { Browser, Page } from 'playwright-core';
import { openChromium } from './chromium.js';
import { openPage } from './opened-page.js';
import { startService, type PageService } from './page-service.js';

const NOW = Date.parse('2026-11-21T12:00:00Z');
const units = Object.keys(TIME_UNITS) as (keyof typeof TIME_UNITS)[];

/** Epochs in the middle of a tick, and bits that leave none for the sequence, among them. */
const anyOptions = fc
  .record({
    timeUnit: fc.constantFrom(...units),
    startTimeStamp: fc.date({ min: new Date('1990-01-01'), max: new Date(NOW), noInvalidDate: true }),
    workIdLength: fc.integer({ min: 3, max: 10 }),
    endBitsLength: fc.integer({ min: 0, max: 5 }),
    share: fc.double({ min: 0, max: 1, noNaN: true }),
  })
  .map(({ share, startTimeStamp, ...options }) => {
    const { minTimestampBits: min, maxTimestampBits: max } = TIME_UNITS[options.timeUnit];
    const timeStampLength = min + Math.round(share * (max - min));
    return { ...options, startTimeStamp: startTimeStamp.toISOString(), timeStampLength, minLifetimeDays: 0 };
  });

describe('What the page computes itself', () => {
  let browser: Browser;
  let service: PageService;
  let page: Page;

  beforeAll(async () => {
    [browser, service] = await Promise.all([openChromium(), startService({})]);
    ({ page } = await openPage(browser, service.url));
  });

  afterAll(async () => {
    await browser?.close();
    await service?.stop();
  });

  /** What a module of the page makes of each value, there. It is sent as a text: a test's own code is compiled for Node. */
  const inPage = <T>(module: string, each: string, values: unknown): Promise<T> =>
    page.evaluate<T>(`import('/scripts/${module}').then((module) => ${JSON.stringify(values)}.map(${each}))`);

  it('is the parts of any ID, under any layout', async () => {
    const layouts = [
      ...[presets.twitter(), presets.westid(), presets.uidGenerator(), presets.uidGeneratorGlobal({ datacenterId: 3 })],
      ...[presets.keyWorker(), presets.discord(), presets.instagram(), presets.sonyflake(), presets.tsid()],
      ...fc.sample(anyOptions, 300).flatMap(layoutOf),
    ];
    const cases = layouts.flatMap((layout) =>
      fc.sample(fc.bigInt({ min: 0n, max: 2n ** BigInt(layout.bits) - 1n }), 5).map((id) => ({ layout, id })),
    );
    const read = await inPage<{ time: Date | null }[]>(
      'id-parts.js',
      'each => module.idParts(each.plan, BigInt(each.id))',
      cases.map(({ layout, id }) => ({ plan: planOf(layout), id: String(id) })),
    );
    cases.forEach(({ layout, id }, index) => {
      let ours;
      try {
        ours = parseId(layout, id);
      } catch {
        expect(read[index]).toMatchObject({ time: null });
        return;
      }
      expect({ ...read[index], id }).toEqual(ours);
    });
    expect(cases.length).toBeGreaterThan(1_000);
  });
});

/** What of a plan says how IDs are read. */
function planOf({ fields, unitMs, epochMs }: Layout): Pick<LayoutPlan, 'unitMs' | 'epoch'> & { fields: unknown } {
  return { fields, unitMs, epoch: new Date(epochMs).toISOString() };
}

/** None for options that leave no sequence bit. */
function layoutOf(options: LayoutOptions): Layout[] {
  try {
    return [createLayout(options, NOW)];
  } catch (error) {
    if (error instanceof ConfigurationError) return [];
    throw error;
  }
}
