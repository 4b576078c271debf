/** The package loads as an application has it: from its tarball, by `import`. */
import { InsertRefusedError } from '@raindrop/orm/kysely';

console.log(JSON.stringify({ loaded: InsertRefusedError.name }));
