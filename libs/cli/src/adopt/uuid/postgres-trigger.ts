import { literal, quoted } from '../postgres-names.js';
import { ownName, type Phase, type Replaced } from './uuid-key.js';

/** What fills the new columns of a table for the rows that are written while the old ones are numbered. */
export function postgresTrigger(
  path: string,
  replaced: readonly Replaced[],
): { readonly phase: Phase; readonly drop: readonly string[] } {
  const mine = replaced.filter((each) => each.path === path);
  // The key first: a row may refer to itself.
  const columns = [...mine.filter(({ keep }) => keep !== undefined), ...mine.filter(({ keep }) => keep === undefined)];
  const { table } = columns[0]!;
  // Of two schemas there may be tables of one name.
  const name = quoted(ownName(`${replaced.findIndex((each) => each.path === path)}_${table}`, 'fill_'));
  const body = columns.flatMap((each): string[] => {
    if (each.source === undefined) return [];
    const map = each.source.path;
    const [fresh, old] = [`NEW.${quoted(each.fresh)}`, `NEW.${quoted(each.column)}`];
    const lookUp = `SELECT number INTO ${fresh} FROM ${map} WHERE old_key = ${old};`;
    const before = `OLD.${quoted(each.column)}`;
    if (each.keep === undefined) {
      return [`IF TG_OP = 'INSERT' THEN ${lookUp} ELSIF ${old} IS DISTINCT FROM ${before} THEN ${lookUp} END IF;`];
    }
    return [
      `IF TG_OP = 'UPDATE' THEN IF ${old} <> ${before} THEN RAISE EXCEPTION ` +
        `${literal(`the key of ${table.replaceAll('%', '%%')} must not change while its rows are numbered`)}; END IF; ELSE ${lookUp} ` +
        // An upsert comes by here as well.
        `IF ${fresh} IS NULL AND NOT EXISTS (SELECT FROM ${path} WHERE ${quoted(each.column)} = ${old}) THEN ` +
        `INSERT INTO ${map} (old_key) VALUES (${old}) ON CONFLICT DO NOTHING RETURNING number INTO ${fresh}; END IF; END IF;`,
    ];
  });
  return {
    phase: {
      name: `new rows of ${table}`,
      unless: `SELECT 1 FROM pg_trigger WHERE tgrelid = ${literal(path)}::regclass AND tgname = ${literal(name.slice(1, -1).replaceAll('""', '"'))}`,
      run: [
        `CREATE OR REPLACE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS ` +
          literal(`BEGIN ${body.join(' ')} RETURN NEW; END`),
        `CREATE TRIGGER ${name} BEFORE INSERT OR UPDATE ON ${path} FOR EACH ROW EXECUTE FUNCTION ${name}()`,
      ],
    },
    drop: [`DROP TRIGGER IF EXISTS ${name} ON ${path}`, `DROP FUNCTION IF EXISTS ${name}()`],
  };
}
