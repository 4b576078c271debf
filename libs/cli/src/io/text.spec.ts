import { withoutSecrets } from './text.js';

it.each([
  ['mysql://u:secret@h/d', 'mysql://***@h/d'],
  ['cannot read mysql://u:secret@h/d: 1', 'cannot read mysql://***@h/d: 1'],
  ['mysql://u:se cret@h/d', 'mysql://***@h/d'],
  ['mysql://u:se/cr?e#t@h/d', 'mysql://***@h/d'],
  ['mysql://u:se@cret@h/d', 'mysql://***@h/d'],
  ['mysql://u:secret @h/d', 'mysql://***@h/d'],
  ['mysql://u:12 34se@h/d', 'mysql://***@h/d'],
  ['mysql://u:a://secret@h/d', 'mysql://***@h/d'],
  ['redis://:secret@h', 'redis://***@h'],
  ['https://secret@h', 'https://***@h'],
  ['https://secret/more@h', 'https://***@h'],
  ['a postgres://u:secret@a,b/d and mysql://v:secret@c/d end', 'a postgres://***@a,b/d and mysql://***@c/d end'],
  ['postgres://u:secret@h/d, see @raindrop/typeorm', 'postgres://***@h/d, see @raindrop/typeorm'],
  ['postgres://h/d?password=secret&x=1', 'postgres://h/d?password=***&x=1'],
])('hides the password in %j', (text, shown) => {
  expect(withoutSecrets(text)).toBe(shown);
});

it.each([
  'mysql://, mariadb:// or postgres://, or dataSourceDatabase(options) of @raindrop/typeorm',
  'http://x is none: see @raindrop/typeorm',
  'connect ECONNREFUSED postgres://localhost:5432/d; ask admin@example.com',
  'http://127.0.0.1:3000 and http://[::1]:3000/v1: a@b',
  'see https://example.com/a, or npm install @raindrop/orm',
  'a@b',
])('leaves %j as it is: there is none', (text) => {
  expect(withoutSecrets(text)).toBe(text);
});
