const { existsSync, readdirSync, readFileSync } = require('node:fs');
const { join } = require('node:path');

/** The names of all installed packages whose files are ES modules. */
function esmPackages(folder = join(__dirname, 'node_modules')) {
  const names = readdirSync(folder).flatMap((name) =>
    name.startsWith('@') ? readdirSync(join(folder, name)).map((inner) => `${name}/${inner}`) : [name],
  );
  const found = names.flatMap((name) => {
    const manifest = join(folder, name, 'package.json');
    if (!existsSync(manifest)) return [];
    const nested = join(folder, name, 'node_modules');
    return [
      ...(JSON.parse(readFileSync(manifest, 'utf8')).type === 'module' ? [name] : []),
      ...(existsSync(nested) ? esmPackages(nested) : []),
    ];
  });
  return [...new Set(found)];
}

module.exports = { esmPackages };
