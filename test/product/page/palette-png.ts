import { crc32, deflateSync } from 'node:zlib';

const COLOURS = 256;
const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/**
 * A PNG of at most 256 colours: a screenshot of flat areas and text is a third as large as in true colour. Colours beyond
 * the 256 most frequent become the nearest of them.
 * @param pixels one number for each, `0xRRGGBB`
 */
export function palettePng(pixels: Uint32Array, width: number): Buffer {
  const counts = new Map<number, number>();
  for (const pixel of pixels) counts.set(pixel, (counts.get(pixel) ?? 0) + 1);
  const colours = [...counts].sort(([, a], [, b]) => b - a).map(([colour]) => colour);
  const palette = colours.slice(0, COLOURS);
  const indexes = new Map(colours.map((colour) => [colour, nearest(colour, palette)]));

  const height = pixels.length / width;
  // Each line begins with its filter, 0: none.
  const lines = Buffer.alloc(height * (width + 1));
  pixels.forEach((pixel, at) => {
    lines[at + Math.floor(at / width) + 1] = indexes.get(pixel)!;
  });
  const header = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 8, 3, 0, 0, 0]);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  const entries = Buffer.from(palette.flatMap(channels));
  const chunks = [chunk('IHDR', header), chunk('PLTE', entries), chunk('IDAT', deflateSync(lines, { level: 9 }))];
  return Buffer.concat([SIGNATURE, ...chunks, chunk('IEND', Buffer.alloc(0))]);
}

function channels(colour: number): [number, number, number] {
  return [colour >> 16, (colour >> 8) & 255, colour & 255];
}

function nearest(colour: number, palette: readonly number[]): number {
  const mine = channels(colour);
  const distances = palette.map((other) =>
    channels(other).reduce((sum, value, index) => sum + (value - mine[index]!) ** 2, 0),
  );
  return distances.indexOf(Math.min(...distances));
}

function chunk(name: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(name, 'latin1'), data]);
  const frame = Buffer.alloc(8);
  frame.writeUInt32BE(data.length, 0);
  frame.writeUInt32BE(crc32(body), 4);
  return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)]);
}
