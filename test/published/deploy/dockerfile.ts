import { readText } from './read-deployment.js';

/** An instruction of a Dockerfile, its continued lines joined. */
export interface Instruction {
  readonly keyword: string;
  readonly rest: string;
}

/** The Dockerfile without comments. */
export const instructions: readonly Instruction[] = readText('Dockerfile')
  .replace(/^#.*\n/gm, '')
  .replace(/\\\n\s*/g, '')
  .split('\n')
  .filter((line) => line !== '')
  .map((line) => ({ keyword: line.split(' ', 1)[0]!, rest: line.slice(line.indexOf(' ') + 1) }));

/** What stands behind a keyword, in order. */
export function all(keyword: string): string[] {
  return instructions.filter((each) => each.keyword === keyword).map(({ rest }) => rest);
}

/** The last instruction of this kind: the one that counts. */
export function last(keyword: string): string {
  const found = all(keyword).at(-1);
  if (found === undefined) throw new Error(`the Dockerfile has no ${keyword}`);
  return found;
}

/** The environment that the image gives the service. */
export function imageEnvironment(): Record<string, string> {
  return Object.fromEntries(
    last('ENV')
      .split(' ')
      .map((pair) => pair.split('=') as [string, string]),
  );
}

/** Program and arguments of an instruction in its exec form, which starts no shell. */
export function execForm(keyword: 'CMD' | 'HEALTHCHECK'): string[] {
  return JSON.parse(/\[.*\]$/.exec(last(keyword))![0]) as string[];
}
