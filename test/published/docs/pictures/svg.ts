/** As wide as a phone shows it, so that its letters stay as large as they are. */
export const WIDTH = 400;

type Attributes = Readonly<Record<string, string | number>>;

/** In light and in dark surroundings; apart for the colour-blind too. */
const STYLE = [
  '.paper{fill:#fff}.ink{fill:#1a1a1a}.soft{fill:#5c5c5c}.line{stroke:#767676;fill:none}.grid{stroke:#e2e2e2}',
  '.box{fill:#f3f4f6;stroke:#767676}.first{fill:#0072b2;stroke:#0072b2}.second{fill:#d55e00;stroke:#d55e00}',
  '.take{fill:#e3f1fa;stroke:#0072b2}.tip{fill:#767676}',
  '@media (prefers-color-scheme:dark){.paper{fill:#161b22}.ink{fill:#eaeaea}.soft{fill:#a9a9a9}.line{stroke:#8f8f8f}',
  '.grid{stroke:#30363d}.box{fill:#21262d;stroke:#8f8f8f}.first{fill:#56b4e9;stroke:#56b4e9}',
  '.second{fill:#e69f00;stroke:#e69f00}.take{fill:#12324a;stroke:#56b4e9}.tip{fill:#8f8f8f}}',
].join('\n');

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

export function element(name: string, attributes: Attributes, content = ''): string {
  const written = Object.entries(attributes).map(([key, value]) => ` ${key}="${value}"`);
  return content === '' ? `<${name}${written.join('')}/>` : `<${name}${written.join('')}>${content}</${name}>`;
}

export function text(x: number, y: number, words: string, more: Attributes = {}): string {
  const escaped = words.replace(/[&<>]/g, (letter) => ESCAPES[letter]!);
  return element('text', { x, y, class: 'ink', ...more }, escaped);
}

/** A box with lines of text in its middle. */
export function box(
  x: number,
  y: number,
  width: number,
  height: number,
  lines: readonly string[],
  kind = 'box',
): string {
  const top = y + height / 2 + 4.5 - (lines.length - 1) * 8;
  return [
    element('rect', { x, y, width, height, rx: 6, class: kind }),
    ...lines.map((line, index) => text(x + width / 2, top + index * 16, line, { 'text-anchor': 'middle' })),
  ].join('\n');
}

/** A straight line with a tip at its end. */
export function arrow(x1: number, y1: number, x2: number, y2: number): string {
  const length = Math.hypot(x2 - x1, y2 - y1);
  const [along, across] = [(x2 - x1) / length, (y2 - y1) / length];
  const at = (back: number, aside: number): string =>
    `${(x2 - along * back - across * aside).toFixed(1)},${(y2 - across * back + along * aside).toFixed(1)}`;
  return [
    element('line', { x1, y1, x2, y2, class: 'line' }),
    element('polygon', { points: `${x2},${y2} ${at(8, 4)} ${at(8, -4)}`, class: 'tip' }),
  ].join('\n');
}

/** A picture that stands by itself: with a title, a ground, and the colours of its surroundings. */
export function picture(title: string, height: number, content: readonly string[]): string {
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" font-family="system-ui, sans-serif" font-size="13" role="img">`,
    `<title>${title}</title>`,
    `<style>${STYLE}</style>`,
    element('rect', { width: WIDTH, height, rx: 8, class: 'paper' }),
    ...content,
    '</svg>',
    '',
  ].join('\n');
}
