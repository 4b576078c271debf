import { arrow, box, element, picture, text } from './svg.js';

/** An application with the part of Raindrop in it. */
function application(x: number, y: number, inside: readonly string[]): string {
  return [
    element('rect', { x, y, width: 116, height: 74, rx: 6, class: 'box' }),
    text(x + 58, y + 18, 'your application', { 'text-anchor': 'middle', 'font-size': 12 }),
    box(x + 6, y + 26, 104, 42, inside, 'take'),
  ].join('\n');
}

function heading(y: number, name: string, about: string): string[] {
  return [text(14, y, name, { 'font-weight': 'bold' }), text(14, y + 17, about, { class: 'soft', 'font-size': 12 })];
}

const label = (x: number, y: number, words: string): string =>
  text(x, y, words, { class: 'soft', 'font-size': 11.5, 'text-anchor': 'middle' });

function inApplication(y: number): string[] {
  return [
    ...heading(y, '1  In your application', 'A module in each process. The default, and the fastest.'),
    application(14, y + 30, ['IDs,', 'worker 1']),
    application(142, y + 30, ['IDs,', 'worker 2']),
    box(14, y + 150, 244, 34, ['your database: worker table'], 'box'),
    arrow(72, y + 104, 72, y + 148),
    arrow(200, y + 104, 200, y + 148),
    label(136, y + 130, 'every 10 s'),
    text(274, y + 50, 'An ID needs no', { 'font-size': 12 }),
    text(274, y + 66, 'request: it is', { 'font-size': 12 }),
    text(274, y + 82, 'counted here.', { 'font-size': 12 }),
  ];
}

function service(y: number): string[] {
  return [
    ...heading(y, '2  The ID service', 'For any language: a request for up to 10,000 IDs.'),
    box(14, y + 40, 96, 44, ['your', 'application']),
    arrow(110, y + 62, 178, y + 62),
    label(144, y + 54, 'HTTP'),
    box(180, y + 34, 96, 56, ['ID service:', 'worker 1, 2'], 'take'),
    arrow(276, y + 62, 312, y + 62),
    box(314, y + 40, 72, 44, ['its', 'database']),
  ];
}

function remote(y: number): string[] {
  return [
    ...heading(y, '3  The remote client', 'IDs come in batches, before they are asked for.'),
    application(14, y + 30, ['IDs fetched', 'ahead']),
    arrow(130, y + 76, 178, y + 76),
    label(154, y + 68, 'batches'),
    box(180, y + 48, 96, 56, ['ID service:', 'worker 1, 2'], 'take'),
    arrow(276, y + 76, 312, y + 76),
    box(314, y + 54, 72, 44, ['its', 'database']),
  ];
}

/** Where IDs are made, in the three ways there are: docs/images/topology.svg. */
export function topologyPicture(): string {
  return picture('Where IDs are made: in the application, in the ID service, or there for a remote client', 486, [
    ...inApplication(26),
    ...service(246),
    ...remote(366),
  ]);
}
