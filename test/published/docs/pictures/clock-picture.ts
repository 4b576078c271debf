import { clockRun, type Call } from './clock-run.js';
import { arrow, element, picture, text, WIDTH } from './svg.js';

const [LEFT, RIGHT, TOP, BOTTOM] = [68, WIDTH - 14, 66, 300];
const [LAST_X, LAST_Y] = [36, 36];

const x = (passed: number): number => LEFT + (passed / LAST_X) * (RIGHT - LEFT);
const y = (at: number): number => BOTTOM - (at / LAST_Y) * (BOTTOM - TOP);

/** The clock as it went: a step where somebody put it. */
function clockLine(calls: readonly Call[]): string {
  const points = calls.map(({ passed, clock }) => `${x(passed).toFixed(1)},${y(clock).toFixed(1)}`);
  return element('polyline', {
    points: points.join(' '),
    class: 'line',
    'stroke-width': 1.5,
    'stroke-dasharray': '4 3',
  });
}

/** Lanes differ in form as well. */
function dot(at: number, value: number, lane: number): string {
  if (lane === 0) return element('circle', { cx: at.toFixed(1), cy: value.toFixed(1), r: 3, class: 'first' });
  const corner = { x: (at - 2.8).toFixed(1), y: (value - 2.8).toFixed(1) };
  return element('rect', { ...corner, width: 5.6, height: 5.6, class: 'second' });
}

function axes(): string[] {
  const seconds = [0, 10, 20, 30];
  const ticks = seconds.flatMap((at) => [
    element('line', { x1: LEFT, x2: RIGHT, y1: y(at), y2: y(at), class: 'grid' }),
    text(LEFT - 6, y(at) + 4.5, `12:00:${String(at).padStart(2, '0')}`, {
      'text-anchor': 'end',
      class: 'soft',
      'font-size': 11.5,
    }),
    text(x(at), BOTTOM + 18, `${at} s`, { 'text-anchor': 'middle', class: 'soft', 'font-size': 11.5 }),
  ]);
  return [...ticks, text(RIGHT, BOTTOM + 36, 'time that really passed', { 'text-anchor': 'end', class: 'soft' })];
}

function legend(): string[] {
  return [
    dot(16, 40, 0),
    text(24, 44.5, 'lane 0'),
    dot(84, 40, 1),
    text(92, 44.5, 'lane 1'),
    element('line', {
      x1: 152,
      x2: 178,
      y1: 40,
      y2: 40,
      class: 'line',
      'stroke-width': 1.5,
      'stroke-dasharray': '4 3',
    }),
    text(184, 44.5, 'the clock'),
  ];
}

/** What happens, beside the place where it does. */
function notes(): string[] {
  return [
    text(x(13), y(14.5), 'back by 8 s: flip'),
    arrow(x(15), y(14), x(12.4), y(5.6)),
    text(x(17.5), y(3.2), 'back once more: hold'),
    arrow(x(23), y(5), x(21.3), y(9.7)),
    text(x(27.4), y(31), 'forward again', { 'text-anchor': 'end' }),
    arrow(x(24), y(30), x(27.6), y(24.8)),
  ];
}

/** The time in every ID while the clock jumps, by lane: docs/images/two-lanes.svg. */
export async function clockPicture(): Promise<string> {
  const calls = await clockRun();
  return picture('The time in each ID while the clock goes back twice', 350, [
    text(14, 24, 'The time in each ID, while the clock jumps', { 'font-weight': 'bold' }),
    ...legend(),
    ...axes(),
    clockLine(calls),
    ...calls.map(({ passed, tick, lane }) => dot(x(passed), y(tick), lane)),
    ...notes(),
  ]);
}
