/**
 * The combinations that are installed and run: the newest of each major (of 0.x: minor) version. `module` is the app's
 * own kind of JavaScript, `jest` makes it run jest as well, `cli` the `raindrop` command; `older` names companions
 * that its Nest takes in no later version. docs/versions.md lists the same.
 */
export const apps = [
  { nest: '12', module: 'esm', typeorm: '1', terminus: '12', cli: true },
  { nest: '12', module: 'cjs', typeorm: '0.3', terminus: '12' },
  { nest: '11', module: 'cjs', typeorm: '0.3', terminus: '11', jest: true },
  { nest: '11', module: 'esm', typeorm: '1', terminus: '11' },
  {
    nest: '10',
    module: 'cjs',
    typeorm: '0.3',
    terminus: '11',
    jest: true,
    older: { '@nestjs/swagger': '7', 'class-validator': '0.14' },
  },
];

/** It is compiled only, by the oldest TypeScript that docs/versions.md states. */
export const oldestTypescript = { ...apps.at(-1), jest: false, typescript: '5.0' };

/** What the step is called: `nest12-esm`. */
export function nameOf(app) {
  return `nest${app.nest}-${app.module}${app.typescript === undefined ? '' : '-oldest-typescript'}`;
}
