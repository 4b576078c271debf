import { withMermaid } from 'vitepress-plugin-mermaid';
import { BASE, groups, read, REPOSITORY } from '../documents.mjs';
import { anchorOf, withSiteLinks } from '../links.mjs';
import { copyPages } from '../pages.mjs';
import { writeTexts } from '../texts.mjs';

const [, name, sentence] = /^# (.*)\n\n(.*)$/m.exec(read('README.md'));

copyPages();

export default withMermaid({
  title: name,
  description: sentence,
  base: BASE,
  lang: 'en',
  srcDir: 'dist/pages',
  outDir: 'dist/site',
  cacheDir: 'node_modules/.vitepress',
  rewrites: { 'README.md': 'index.md', 'docs/README.md': 'docs/index.md' },
  // Mermaid's larger kinds of diagrams.
  vite: { build: { chunkSizeWarningLimit: 1_000 } },
  // Else every page fetches every kind of diagram before it is asked for.
  shouldPreload: (link) => /(\.md|\/framework|\/theme)\.[^/]*js$|\.woff2$/.test(link),
  markdown: { anchor: { slugify: anchorOf }, config: withSiteLinks },
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    nav: [
      { text: 'Getting started', link: '/docs/getting-started' },
      { text: 'All documents', link: '/docs/' },
    ],
    sidebar: groups().map((group) => ({
      text: group.name,
      items: group.documents.map(({ title, page }) => ({ text: title, link: `/${page}` })),
    })),
    socialLinks: [{ icon: 'github', link: REPOSITORY }],
  },
  buildEnd: ({ outDir }) => writeTexts(outDir),
});
