import { DOCUMENTS, blocksOf, placeOf, type Block } from './documents.js';

/** A command of a document. */
export interface ShellCommand {
  readonly document: string;
  /** `docs/choosing.md:12`: where its block begins. */
  readonly place: string;
  /** One command line; continued lines are joined. */
  readonly command: string;
  /** What the document says that it answers; empty for nothing. */
  readonly answer: string;
}

/** What the first word of a command can be. A block of text that begins so is a block of the shell. */
const PROGRAMS = /^(\$ |(curl|docker|export|git|kubectl|mkdir|node|npm|npx|raindrop|unset) )/;

/** Are these commands, whatever the fence says? */
export function isShell({ language, text }: Block): boolean {
  return /^(sh|bash|shell|console|zsh)$/.test(language) || (/^(text|)$/.test(language) && PROGRAMS.test(text));
}

/** The commands of a block: with prompts what follows is the answer, without them it is what stands behind `# `. */
export function commandsOf(block: Block): ShellCommand[] {
  const hasPrompts = block.text.startsWith('$ ');
  const found: { command: string; answer: string }[] = [];
  for (const line of block.text.replace(/\\\n */g, '').split('\n')) {
    const last = found.at(-1);
    if (hasPrompts && line.startsWith('$ ')) found.push({ command: line.slice(2), answer: '' });
    else if (hasPrompts) last!.answer += `${line}\n`;
    else if (line.startsWith('# ') && last !== undefined) last.answer += `${line.slice(2)}\n`;
    else if (line.trim() !== '') found.push({ command: line, answer: '' });
  }
  return found.map(({ command, answer }) => ({
    document: block.document,
    place: placeOf(block),
    command,
    answer: answer.trim(),
  }));
}

/** Every command of every document, or of one. */
export function shellCommands(documents: readonly string[] = DOCUMENTS): ShellCommand[] {
  return documents.flatMap((document) => blocksOf(document).filter(isShell)).flatMap(commandsOf);
}
