import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { jsonHere, raindropHere } from './cli-in-process.js';

interface Found {
  readonly code: readonly {
    readonly file: string;
    readonly line: number;
    readonly code: string;
    readonly why: string;
  }[];
  readonly dataSources: readonly { readonly file: string; readonly line: number }[];
  readonly synchronize: readonly { readonly file: string; readonly line: number; readonly code: string }[];
}

let folder: string;

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'raindrop-adopt-project-')));
  const database = new Sqlite(join(folder, 'shop.sqlite'));
  database.exec(
    'CREATE TABLE users (id integer PRIMARY KEY); CREATE TABLE tags (id integer PRIMARY KEY);' +
      'CREATE TABLE orders (id integer PRIMARY KEY, owner integer REFERENCES users (id), actor_id integer)',
  );
  database.close();
  write(
    'tsconfig.json',
    '{ "compilerOptions": { "strict": true, "experimentalDecorators": true, "skipLibCheck": true } }',
  );
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

function write(name: string, text: string): void {
  const file = join(folder, name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

function installTypescript(): void {
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(dirname(require.resolve('typescript/package.json')), join(folder, 'node_modules/typescript'));
}

const adopt = (project = folder): string[] => [
  ...['adopt', '--url', `sqlite:${join(folder, 'shop.sqlite')}`, '--table', 'users', '--project', project],
];

const DECORATORS = `
declare function Entity(name?: string | { name: string }): ClassDecorator;
declare function PrimaryGeneratedColumn(): PropertyDecorator;
declare function IsInt(): PropertyDecorator;
declare function IsString(): PropertyDecorator;
declare function ApiProperty(options: { type: unknown }): PropertyDecorator;
declare function Param(name: string, ...pipes: unknown[]): ParameterDecorator;
declare class ParseIntPipe {}
`;

/** Each line that has to be found ends with a comment, by which its reason is known. */
const CODE = `${DECORATORS}
@Entity({ name: 'users' })
class User {
  @PrimaryGeneratedColumn() // lets the database
  id!: number; // declared
  name!: string;
}
@Entity('tags')
class Tag {
  @PrimaryGeneratedColumn()
  id!: number;
}
class Answer {
  @IsInt() // requires a key
  owner!: number; // declared
  @IsString()
  userId!: string;
  @ApiProperty({ type: Number }) // describes a key
  user_id!: number | string;
  @IsInt()
  amount!: number;
}
class Users {
  find(@Param('id', ParseIntPipe) id: number): unknown { return id; } // reads a key, declared
  all(@Param('page', ParseIntPipe) page: number): number { return page; }
}
export function use(user: User, tag: Tag, answer: Answer, users: User[], id: unknown, text: string, ids: number[]): unknown[] {
  return [
    typeof id === 'number', // tests whether
    'number' !== typeof user?.id, // tests whether
    typeof id === 'string',
    typeof tag.id === 'number',
    Number(answer.userId), // converts a key
    Number(text),
    +answer.userId!, // converts a key
    parseInt(answer['userId'], 10), // converts a key
    Number.isInteger(id), // tests whether
    user.id < 5, // orders keys
    user.name < 'a',
    answer.userId > text,
    tag.id < 5,
    user.id === 5, // compares a key
    user.id === answer.owner,
    user.id + 1, // adds to
    user.id + ' ' + user.name,
    users.sort((a, b) => a.id - b.id), // computes with
    ids.sort((a, b) => a - b), // sorts keys
    ids.map(Number), // converts a key
    Math.max(...ids), // as numbers
    ids.map(String),
  ];
}
export { Users };
`;

it('lists the code of an application that breaks when keys become strings', async () => {
  installTypescript();
  write('src/users.ts', CODE);
  const { code: exit, result } = await jsonHere<Found>(adopt());
  expect(exit).toBe(0);
  const found = result.code.map(({ file, line, why }) => `${file}:${line} ${why}`);
  const expected = CODE.split('\n').flatMap((line, index) =>
    (line.split(' // ')[1]?.split(', ') ?? []).map((why) => [`src/users.ts:${index + 1} `, why] as const),
  );
  expect(expected.length).toBeGreaterThan(15);
  expect(found).toEqual(
    expected.map(([place, why]) => expect.stringMatching(new RegExp(`^${place}.*${why}`)) as string),
  );
});

it('says so to people as well, and when there is nothing', async () => {
  installTypescript();
  write('src/a.ts', 'export const isOld = (id: unknown): boolean => typeof id === "number";\n');
  const { stderr } = await raindropHere(adopt(join(folder, 'tsconfig.json')));
  expect(stderr).toContain('if keys become strings, check these 1 places');
  expect(stderr).toContain('src/a.ts:1:48 typeof id === "number": tests whether a key is a number');
  write('src/a.ts', 'export {};\n');
  expect((await raindropHere(adopt())).stderr).toContain('found no code in the project that breaks');
});

it('names what makes a DataSource without Raindrop beside it', async () => {
  installTypescript();
  write(
    'src/app.module.ts',
    `declare const TypeOrmModule: { forRoot(): unknown }; declare const RaindropModule: { forRoot(): unknown };
export const imports = [TypeOrmModule.forRoot(), RaindropModule.forRoot()];\n`,
  );
  write(
    'src/seed.module.ts',
    `declare const TypeOrmModule: { forFeature(): unknown; forRootAsync(options: object): unknown };
declare class DataSource {}
export const imports = [
  TypeOrmModule.forFeature(),
  TypeOrmModule.forRootAsync({ dataSourceFactory: () => new DataSource() }),
];\n`,
  );
  const { result } = await jsonHere<Found>(adopt());
  expect(result.dataSources).toEqual([{ file: 'src/seed.module.ts', line: 5 }]);
  const { stderr } = await raindropHere(adopt());
  expect(stderr).toContain('src/seed.module.ts:5 creates a DataSource without Raindrop');
});

it('names every place that lets TypeORM change the tables', async () => {
  installTypescript();
  write(
    'src/data-source.ts',
    `declare const isProd: boolean; declare const dataSource: { synchronize(drop?: boolean): Promise<void> };
const synchronize = process.env.SYNC === '1';
declare const process: { env: Record<string, string | undefined> };
export const all = [
  { synchronize: true },
  { synchronize: !isProd },
  { 'synchronize': isProd as boolean },
  { synchronize },
  { synchronize: false },
];
export const later: { synchronize?: boolean } = {};
later.synchronize = !isProd;
later.synchronize = false;
export const run = () => dataSource.synchronize(true);
`,
  );
  const { result } = await jsonHere<Found>(adopt());
  const places = [
    [5, 'synchronize: true'],
    [6, 'synchronize: !isProd'],
    [7, "'synchronize': isProd as boolean"],
    [8, 'synchronize'],
    [12, 'later.synchronize = !isProd'],
    [14, 'dataSource.synchronize(true)'],
  ].map(([line, code]) => ({ file: 'src/data-source.ts', line, code }));
  expect(result.synchronize).toEqual(places);
  const { stderr } = await raindropHere(adopt());
  expect(stderr).toContain(
    'set synchronize: false before an entity changes: TypeORM would drop the key, and Raindrop stops it\n' +
      'src/data-source.ts:5 synchronize: true: this must be false wherever these tables are\n',
  );
});

it('is read with the TypeScript of the command where its own has no API', async () => {
  write('node_modules/typescript/package.json', '{ "main": "index.js" }');
  write('node_modules/typescript/index.js', 'exports.version = "7.0.0";');
  write('src/a.ts', 'export const isOld = (id: unknown): boolean => typeof id === "number";\n');
  const { stderr } = await raindropHere(adopt());
  expect(stderr).toContain('src/a.ts:1:48 typeof id === "number": tests whether a key is a number');
});

describe('a project that cannot be read is refused', () => {
  it.each([
    {
      what: 'without files',
      says: 'It names no files: use',
      prepare: () => {
        installTypescript();
        write('tsconfig.json', '{ "files": [], "references": [] }');
      },
    },
    {
      what: 'with a configuration that extends nothing',
      says: 'nowhere.json',
      prepare: () => {
        installTypescript();
        write('tsconfig.json', '{ "extends": "./nowhere.json", "files": [] }');
      },
    },
    { what: 'that is not there', says: 'there is no ', prepare: () => rmSync(join(folder, 'tsconfig.json')) },
  ])('$what', async ({ says, prepare }) => {
    prepare();
    const { code, stderr } = await raindropHere(adopt());
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(says) as string });
  });
});
