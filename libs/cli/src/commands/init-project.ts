import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { databaseAddressesOf } from '@raindrop/node/internal';
import { CommandFailedError } from '../input-error.js';
import type { CliOutput } from '../io/cli-output.js';
import type { FlagValues } from '../options/module-options.js';
import { planInit, type InitPlan } from '../project-init/init-plan.js';
import { nestProject } from '../project-init/nest-project.js';

/** `raindrop init --project`: module, one entity and migration, written into a Nest application. All of it or nothing. */
export async function initProject(flags: FlagValues, output: CliOutput): Promise<void> {
  const project = nestProject(flags['project'] === true ? '.' : (flags['project'] as string));
  const type = databaseAddressesOf(flags['url'])?.[0]?.type;
  const plan = planInit(project, type, Date.now());
  const isDry = flags['dryRun'] === true;
  output.interruption.check();
  if (!isDry) await write(project.folder, plan);
  await output.result({ ...plan, written: !isDry }, () => (isDry ? textsOf(plan) : linesOf(plan)));
}

async function write(folder: string, { files, module }: InitPlan): Promise<void> {
  if (module === undefined) return;
  const written: string[] = [];
  try {
    for (const { file, text } of files) {
      const path = join(folder, file);
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, text, { flag: 'wx' });
      written.push(path);
    }
    // The last step, and one that is done or not.
    const path = join(folder, module.file);
    const beside = `${path}.raindrop`;
    await writeFile(beside, module.text, { flag: 'wx' });
    written.push(beside);
    await rename(beside, path);
  } catch (error) {
    await Promise.all(written.map((path) => rm(path, { force: true })));
    const { code, message } = error as NodeJS.ErrnoException;
    throw new CommandFailedError(`nothing was changed: ${code ?? message}`);
  }
}

function linesOf({ files, module, remaining }: InitPlan): string[] {
  if (module === undefined) return ['RaindropModule is imported already: nothing was changed'];
  return [
    ...files.map(({ file }) => `made     ${file}`),
    `changed  ${module.file}`,
    ...remaining.map((each) => `next     ${each}`),
  ];
}

function textsOf({ files, module, remaining }: InitPlan): string[] {
  const all = [...files, ...(module === undefined ? [] : [module])];
  return [
    ...all.flatMap(({ file, text }) => [`// ${file}`, text]),
    ...remaining.map((each) => `// next: ${each}`),
    ...(module === undefined ? ['RaindropModule is imported already: nothing would be changed'] : []),
  ];
}
