import { wallClock } from '@raindrop/core/internal';
import { planProject } from '@raindrop/node/nest-project';

/** The options of `nest add @raindrop/nestjs`: schematics/nest-add.json. */
interface NestAddOptions {
  readonly sourceRoot?: string;
  readonly url?: string;
  readonly moduleOnly?: boolean;
}

/** What a schematic may change: the files of the folder in which the Nest CLI runs. */
interface Tree {
  create(path: string, text: string): void;
  overwrite(path: string, text: string): void;
}

interface Context {
  readonly logger: { info(message: string): void };
}

/**
 * The schematic behind `nest add @raindrop/nestjs`. It makes the same changes as `raindrop init --project`: all of them or
 * none, and with `--dry-run` none. The Nest CLI writes the files and names them.
 * @throws InputError when the folder has no Nest application, or its files cannot be extended
 */
export function nestAdd(options: NestAddOptions): (tree: Tree, context: Context) => void {
  return (tree, { logger }) => {
    const { sourceRoot, url, moduleOnly: isModuleOnly = false } = options;
    const { files, module, remaining } = planProject(
      { path: process.cwd(), sourceRoot, url, isModuleOnly },
      wallClock.now(),
    );
    if (module === undefined) {
      logger.info('nothing was changed: the application already imports RaindropModule');
      return;
    }
    for (const { file, text } of files) tree.create(file, text);
    tree.overwrite(module.file, module.text);
    for (const each of remaining) logger.info(`next: ${each}`);
  };
}
