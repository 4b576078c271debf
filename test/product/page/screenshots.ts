import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { openChromium } from './chromium.js';
import { palettePng } from './palette-png.js';
import { startService, type PageService } from './page-service.js';

const FOLDER = resolve(process.argv[2] ?? resolve(__dirname, '../../../docs/images'));
const API_KEY = 'key-of-the-screenshots';
/** As much of the chart as makes sense to wait for. */
const TAKING_MS = 25_000;

/** Short enough to run out in that time. */
const LEASE_MS = 20_000;

const SHOTS = [
  { name: 'page-light', colorScheme: 'light', width: 1_440 },
  { name: 'page-dark', colorScheme: 'dark', width: 1_440 },
  { name: 'page-narrow', colorScheme: 'light', width: 375 },
  { name: 'page-narrow-dark', colorScheme: 'dark', width: 375 },
] as const;

/**
 * Makes the pictures in docs/images, or in a folder that is named:
 * `node --require ./test/typescript-hook.cjs test/product/page/screenshots.ts [FOLDER]` after a build.
 */
async function main(): Promise<void> {
  const browser = await openChromium();
  const service = await startService({ apiKey: API_KEY, leaseMs: LEASE_MS });
  const { folder } = service;
  const siblings = await Promise.all([1, 2].map(() => startService({ folder, leaseMs: LEASE_MS })));
  try {
    // Its lease runs out before the pictures are taken.
    await siblings[0]!.stop('SIGKILL');
    await Promise.all(SHOTS.map((shot) => take(browser, service, shot)));
  } finally {
    await browser.close();
    await siblings[1]!.stop();
    await service.stop();
  }
}

async function take(
  browser: Browser,
  service: PageService,
  { name, colorScheme, width }: (typeof SHOTS)[number],
): Promise<void> {
  const context = await browser.newContext({
    colorScheme,
    viewport: { width, height: 900 },
    reducedMotion: 'reduce',
    locale: 'en-GB',
  });
  const page = await context.newPage();
  await page.goto(service.url);
  await page.getByText('Ready', { exact: true }).waitFor();
  await page.getByLabel('API key').fill(API_KEY);
  await page.getByRole('button', { name: 'Show workers' }).click();
  await page.getByLabel('How many').fill('2000');
  await page.getByRole('button', { name: 'Repeat' }).click();
  await page.waitForTimeout(TAKING_MS / 2);
  await page.getByLabel('How many').fill('6000');
  await page.waitForTimeout(TAKING_MS / 2);
  await page.locator('#take-list button').last().click();
  await page.locator('#read-check').getByText('✓').waitFor();
  await page.getByRole('heading', { level: 1 }).click();
  await page.mouse.move(0, 0);
  const png = await page.screenshot({ fullPage: true });
  await writeFile(resolve(FOLDER, `${name}.png`), palettePng(await pixelsOf(page, png), width));
  await context.close();
}

/** For the browser: the bytes of a picture, in base64. */
const READ_PIXELS = `async (url) => {
  const bitmap = await createImageBitmap(await (await fetch(url)).blob());
  const canvas = new OffscreenCanvas(bitmap.width, bitmap.height).getContext('2d');
  canvas.drawImage(bitmap, 0, 0);
  const { data } = canvas.getImageData(0, 0, bitmap.width, bitmap.height);
  const parts = [];
  for (let at = 0; at < data.length; at += 32_768) parts.push(String.fromCharCode(...data.subarray(at, at + 32_768)));
  return btoa(parts.join(''));
}`;

/** The browser that made a picture reads it as well. */
async function pixelsOf(page: Page, png: Buffer): Promise<Uint32Array> {
  const sheet = await page.context().newPage();
  const rgba = await sheet.evaluate<string>(`(${READ_PIXELS})('data:image/png;base64,${png.toString('base64')}')`);
  const bytes = Buffer.from(rgba, 'base64');
  return Uint32Array.from({ length: bytes.length / 4 }, (_, pixel) => bytes.readUIntBE(pixel * 4, 3));
}

void main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
