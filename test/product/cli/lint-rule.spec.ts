import { mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { ESLint } from 'eslint';
import tseslint from 'typescript-eslint';
import raindrop from '@raindrop/cli/eslint';

const ROOT = resolve(__dirname, '../../..');

const APP = `
import { IdService, ParseIdPipe, toId, typedId } from '@raindrop/nestjs';
import { IsSnowflake } from '@raindrop/nestjs/class-validator';
import { GeneratedSnowflake, snowflakeColumn } from '@raindrop/nestjs/typeorm';
import { Param } from '@nestjs/common';
import { Column } from 'typeorm';

class Order {
  @GeneratedSnowflake() id!: string;
  @Column(snowflakeColumn()) customerId!: string | null;
  @GeneratedSnowflake({ as: 'number' }) small!: number;
  @Column() phone!: string;
  @Column() bytes!: bigint;
}
class Search { @IsSnowflake() after!: string; }
declare const ids: IdService;
declare const order: Order;
declare const search: Search;
declare const row: { id: bigint; customer_id: bigint | null; bytes: bigint; name: string; number: string };
const typed = typedId('order').encode(5n);
// Of Drizzle, which is not installed here.
declare function snowflake(): { primaryKey(): { readonly value: string } };
declare function rows<T>(table: { [Key in keyof T]: { readonly value: T[Key] } }): T[];
const table = { key: snowflake().primaryKey(), total: { value: '5' } };
`;

let folder: string;
let linter: ESLint;

beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'raindrop-eslint-')));
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ extends: `${ROOT}/tsconfig.json`, include: ['app.ts'] }),
  );
  linter = linterWith({ projectService: true, tsconfigRootDir: folder });
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function linterWith(parserOptions: object): ESLint {
  const languageOptions = { parser: tseslint.parser, parserOptions } as never;
  return new ESLint({
    cwd: folder,
    overrideConfigFile: true,
    overrideConfig: [{ files: ['**/*.ts'], languageOptions }, raindrop.configs.recommended],
  });
}

async function lint(code: string): Promise<string[]> {
  const text = `${APP}\n${code}`;
  writeFileSync(join(folder, 'app.ts'), text);
  const [result] = await linter.lintText(text, { filePath: join(folder, 'app.ts') });
  return result!.messages.map(({ message }) => message);
}

it.each([
  ['Number(order.id)', 'Number()'],
  ['parseInt(order.id, 10)', 'parseInt()'],
  ['Number.parseInt(order.id)', 'Number.parseInt()'],
  ['parseFloat(order.id)', 'parseFloat()'],
  ['globalThis.Number(order.id)', 'globalThis.Number()'],
  ['+order.id', '+'],
  ['Number(order!.id as string)', 'Number()'],
  ["Number(order['id'])", 'Number()'],
  ['Number(order?.id)', 'Number()'],
  ['Number(order.customerId)', 'Number()'],
  ['const { id } = order; Number(id)', 'Number()'],
  ['const { id: key } = order; Number(key)', 'Number()'],
  ['const key = order.id; const again = key; Number(again)', 'Number()'],
  ['Number(ids.nextId())', 'Number()'],
  ['const made = ids.nextString(); +made', '+'],
  ['async () => Number(await ids.nextStringAsync())', 'Number()'],
  ['Number(toId(order.phone))', 'Number()'],
  ['Number(search.after)', 'Number()'],
  ['Number(typed)', 'Number()'],
  ['Number(row.id)', 'Number()'],
  ['Number(row.customer_id)', 'Number()'],
  ['Number(rows(table)[0]!.key)', 'Number()'],
  ["class Orders { find(@Param('id', ParseIdPipe) id: string) { return Number(id); } }", 'Number()'],
])('refuses %s', async (code, call) => {
  expect(await lint(code)).toEqual([
    `${call} converts an ID to a number: above 2^53 - 1 the last digits are lost. Keep it as a string or a bigint.`,
  ]);
});

it.each([
  'BigInt(order.id)',
  'String(row.id)',
  'Number(order.small)',
  'Number(ids.nextNumber())',
  'Number(order.phone)',
  'Number(order.bytes)',
  'Number(row.bytes)',
  'Number(row.number)',
  'Number(rows(table)[0]!.total)',
  'Number(ids.nextIds(3).length)',
  'const length = order.id.length; Number(length)',
  'Number()',
  'Number(...[order.id] as const)',
  'parseInt("12")',
])('allows %s', async (code) => {
  expect(await lint(code)).toEqual([]);
});

it('says what is missing where the parser knows no types', async () => {
  const file = join(folder, 'app.ts');
  await expect(linterWith({}).lintText('Number(id)', { filePath: file })).rejects.toThrow(
    'raindrop/no-id-as-number reads types: use the parser of typescript-eslint with parserOptions.projectService: true',
  );
});
