import { isWord, pathOf, sqlTokens } from './sql-tokens.js';

const textsOf = (sql: string): string[] => [...sqlTokens(sql)].map(({ text }) => text);

it('reads names, marks, texts and parameters, and leaves the rest out', () => {
  const sql = `SELECT "a"."id", 12 -- it's\n FROM b . c /* "x" */ WHERE \`d\`>=$2 AND e='it''s' AND f2 IN (?, ?) AND 3a <> 0x1f`;
  expect(textsOf(sql).join(' ')).toBe(
    `SELECT "a"."id" , FROM b . c WHERE \`d\` >= $2 AND e = 'it''s' AND f2 IN ( ? , ? ) AND 3a <> 0x1f`,
  );
  const parameters = [...sqlTokens(sql)].filter(({ kind }) => kind === 'parameter');
  expect(parameters.map(({ index }) => index)).toEqual([1, 0, 1]);
});

it('knows keywords and the parts of a name', () => {
  const [word, name] = [...sqlTokens('insert "Shop"."or.der"')];
  expect([isWord(word, 'INTO', 'INSERT'), isWord(name, 'SHOP'), isWord(undefined, 'INTO')]).toEqual([
    true,
    false,
    false,
  ]);
  expect(pathOf(name!)).toEqual(['shop', 'or.der']);
});

it.each(['/**/', '/* ', "'", "'a' ", '"a ', '"', '.a', '1', ' ', '--\n', '?', '`'])(
  'takes time in proportion to the length of %p repeated',
  (piece) => {
    // Reading it in quadratic time takes minutes.
    expect(textsOf(`a${piece.repeat(500_000)}`)[0]).toMatch(/^a/);
  },
);
