import { createLayout, parseId } from '@raindrop/core';

/** The ID that README.md and docs/how-it-works.md take apart. */
export const SHOWN_ID = '30077675337940996';

const LAYOUT = createLayout(
  { startTimeStamp: '2026-01-01', timeStampLength: 33, workIdLength: 10, endBitsLength: 1 },
  Date.UTC(2026, 11, 1),
);

interface Part {
  readonly name: string;
  /** Apart for the colour-blind too. */
  readonly colour: string;
  readonly bits: number;
  readonly value: number;
  readonly meaning: string;
}

const BIT = 14;
const LEFT = 32;
const WIDTH = 64 * BIT + 2 * LEFT;
/** Where the columns of the words below the bits begin. */
const COLUMNS = [LEFT, 240, 425, 610, 795];
const HEIGHT = 158;

function parts(): Part[] {
  const { time, tick, workerId, clockBack, sequence, endBits } = parseId(LAYOUT, SHOWN_ID);
  const at = time.toISOString().slice(0, 19).replace('T', ' ');
  const [timestamp, worker, back, count, end] = LAYOUT.fields.map(({ bits }) => bits) as [
    number,
    number,
    number,
    number,
    number,
  ];
  return [
    { name: 'timestamp', colour: '#56b4e9', bits: timestamp, value: tick, meaning: `${at} UTC` },
    { name: 'worker', colour: '#e69f00', bits: worker, value: workerId, meaning: 'leased from your table' },
    { name: 'back', colour: '#cc79a7', bits: back, value: clockBack, meaning: 'clock never went back' },
    { name: 'sequence', colour: '#5fc6a4', bits: count, value: sequence, meaning: 'third ID of its second' },
    { name: 'end', colour: '#d9d06b', bits: end, value: endBits, meaning: 'tells layouts apart' },
  ];
}

const text = (x: number, y: number, size: number, words: string, more = ''): string =>
  `<text x="${x}" y="${y}" font-size="${size}"${more}>${words}</text>`;

/** One ID, bit by bit, in the colours of its fields: docs/images/id.svg, which `npm run docs` writes. */
export function idPicture(): string {
  const fields = parts();
  const bits = BigInt(SHOWN_ID).toString(2).padStart(64, '0');
  const colours = ['#eeeeee', ...fields.flatMap(({ bits: length, colour }) => Array<string>(length).fill(colour))];
  const strip = [...bits].flatMap((bit, index) => [
    `<rect x="${LEFT + index * BIT}" y="52" width="${BIT - 1}" height="26" fill="${colours[index]}"/>`,
    text(LEFT + index * BIT + BIT / 2, 70, 13, bit, ' text-anchor="middle"'),
  ]);
  const legend = fields.flatMap(({ name, colour, bits: length, value, meaning }, index) => [
    `<rect x="${COLUMNS[index]}" y="96" width="12" height="12" fill="${colour}"/>`,
    text(COLUMNS[index]! + 18, 107, 14, `${name} = ${value}`, ' font-weight="bold"'),
    text(COLUMNS[index]!, 126, 11, `${length} ${length === 1 ? 'bit' : 'bits'}`),
    text(COLUMNS[index]!, 141, 11, meaning),
  ]);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="ui-monospace, Menlo, Consolas, monospace" role="img">`,
    `<title>The ID ${SHOWN_ID}, bit by bit</title>`,
    `<rect width="${WIDTH}" height="${HEIGHT}" rx="8" fill="#ffffff"/>`,
    '<g fill="#1a1a1a">',
    text(LEFT, 34, 20, SHOWN_ID, ' font-weight="bold"'),
    ...strip,
    ...legend,
    '</g>',
    '</svg>',
    '',
  ].join('\n');
}
