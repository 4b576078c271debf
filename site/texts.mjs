import { cpSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { groups, PAGES, read, ROOT, SITE } from './documents.mjs';

/** Beside the pages: every document as it is, `llms.txt` that lists them, and `llms-full.txt` that holds them. */
export function writeTexts(folder) {
  for (const path of PAGES) cpSync(resolve(ROOT, path), resolve(folder, path));
  writeFileSync(resolve(folder, 'llms.txt'), list());
  writeFileSync(resolve(folder, 'llms-full.txt'), PAGES.map((path) => `<!-- ${path} -->\n\n${read(path)}`).join('\n'));
}

/** As llmstxt.org describes it. */
function list() {
  const [, name, sentence] = /^# (.*)\n\n(.*)$/m.exec(read('README.md'));
  const sections = groups().map(({ name: group, documents }) => {
    const lines = documents.map(({ path, title, about }) => `- [${title}](${SITE}${path}): ${about}\n`);
    return `## ${group}\n\n${lines.join('')}`;
  });
  return [
    `# ${name}\n`,
    `> ${sentence}\n`,
    `All in one file: [llms-full.txt](${SITE}llms-full.txt)\n`,
    ...sections,
  ].join('\n');
}
