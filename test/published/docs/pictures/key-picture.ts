import { arrow, box, picture, text } from './svg.js';

/** From top to bottom: an arrow for yes leads to the kind of key, an arrow for no to the next question. */
const QUESTIONS: readonly (readonly [question: readonly string[], take: readonly string[]])[] = [
  [
    ['Must it be', 'impossible to guess?'],
    ['a random token;', 'or public IDs'],
  ],
  [['No gap, for the', 'tax office?'], ['business numbers']],
  [['Numbers that expire,', 'in 31 bits?'], ['short IDs']],
  [['Small numbers', 'for people?'], ['segments']],
  [['Made by clients, offline,', 'between organisations?'], ['UUID v7']],
  [['One database, and only', 'your code sees the keys?'], ['auto-increment']],
];
const REST = ['snowflakes:', "Raindrop's default"];

/** The kinds of keys that the picture names. */
export const TAKEN: readonly string[] = [...QUESTIONS.map(([, take]) => take), REST].map((lines) => lines.join(' '));

const STEP = 76;
const TOP = 44;

function rung([question, take]: (typeof QUESTIONS)[number], index: number): string[] {
  const y = TOP + index * STEP;
  return [
    box(14, y, 194, 48, question),
    arrow(208, y + 24, 250, y + 24),
    text(227, y + 18, 'yes', { class: 'soft', 'font-size': 12, 'text-anchor': 'middle' }),
    box(252, y, 134, 48, take, 'take'),
    arrow(104, y + 48, 104, y + STEP - 2),
    text(112, y + 66, 'no', { class: 'soft', 'font-size': 12 }),
  ];
}

/** Which kind of key to use: docs/images/which-key.svg. */
export function keyPicture(): string {
  const end = TOP + QUESTIONS.length * STEP;
  return picture('Which kind of key to use', end + 62, [
    text(14, 26, 'Which kind of key?', { 'font-weight': 'bold' }),
    ...QUESTIONS.flatMap(rung),
    box(14, end, 194, 48, REST, 'take'),
  ]);
}
