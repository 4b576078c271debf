import type { Layout } from '@raindrop/core';
import { MAX_ID } from '@raindrop/core/internal';
import { type Dialect, type Family, quoteTable } from '@raindrop/node/internal';
import type { KeyPath } from '../adopt/old-key.js';
import { firstIdSql, timeOfSql } from './layout-sql.js';
import { partitionPath, type Period } from './partitions-sql.js';

/** What a scheduler keeps of a table. The periods are those of the database's clock when the SQL runs. */
export interface Upkeep {
  readonly period: Period;
  /** How many partitions there are after the one of the present. */
  readonly ahead: number;
  /** How many there are before it; undefined keeps all. */
  readonly keep: number | undefined;
  /** Whether the rows of older partitions are deleted. Otherwise a partition becomes a table of its own. */
  readonly drops: boolean;
}

/** How a database keeps the partitions of a table. */
interface UpkeepSql {
  /** Whether a partition can become a table of its own. */
  readonly detaches: boolean;
  readonly write: (layout: Layout, dialect: Dialect, table: KeyPath, upkeep: Upkeep) => string[];
}

const UPKEEP_SQL: Readonly<Record<Family, UpkeepSql | undefined>> = {
  mysql: { detaches: false, write: onMysql },
  postgres: { detaches: true, write: onPostgres },
  sqlite: undefined,
};

/** Whether old partitions can become tables. */
export function detachesPartitions({ family }: Dialect): boolean {
  return UPKEEP_SQL[family]?.detaches === true;
}

/**
 * Writes the statements that a scheduler runs every day. They add the partitions that are missing after the last one up to
 * the present, and `ahead` more, and then detach or drop those that ended more than `keep` periods before the present one
 * began. They recognise a partition by its name and by its range of IDs together, and touch no other. They may run at any
 * time, twice, and at once in two sessions. None on SQLite, which has no partitions.
 * @throws InputError for names that PostgreSQL would shorten
 */
export function upkeepSql(layout: Layout, dialect: Dialect, table: KeyPath, upkeep: Upkeep): string[] {
  return UPKEEP_SQL[dialect.family]?.write(layout, dialect, table, upkeep) ?? [];
}

/** A text as both databases read it; PostgreSQL with `standard_conforming_strings`, as it is by default. */
function textLiteral(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** The form of a partition's name for `to_char` and DATE_FORMAT. */
const NAMES = {
  month: { toChar: '"_p"YYYY_MM', dateFormat: 'p%Y_%m' },
  week: { toChar: '"_p"YYYY_MM_DD', dateFormat: 'p%Y_%m_%d' },
  day: { toChar: '"_p"YYYY_MM_DD', dateFormat: 'p%Y_%m_%d' },
} as const;

/**
 * One block, and so one transaction: an error leaves everything as it was.
 *
 * The default partition may have rows of a partition that is missing, because the scheduler has slept. PostgreSQL refuses
 * such a partition, so they are moved: out of the default, and into the new partition. Nothing sees the moment between:
 * the table is locked. A move is a DELETE and an INSERT. It would fire triggers, and foreign keys that refer to the table
 * would refuse it, or delete their rows as well; where there are any, the block raises an exception.
 *
 * Old partitions are detached before they are dropped, since only that looks for rows that refer to them.
 */
function onPostgres(
  layout: Layout,
  dialect: Dialect,
  table: KeyPath,
  { period, ahead, keep, drops }: Upkeep,
): string[] {
  // All names are of the same length.
  partitionPath(dialect, table, NAMES[period].toChar.replaceAll('"', '').slice(1));
  const startOf = (time: string): string => `date_trunc('${period}', ${time})`;
  const firstId = (moment: string): string => `least(${firstIdSql(layout, dialect.family, moment)}, ${MAX_ID})`;
  const nameOf = (begins: string): string => `title || to_char(${begins}, '${NAMES[period].toChar}')`;
  /** A range of IDs in the catalogue: two numbers, with quotes where the column is a bigint. */
  const number = `''?([0-9]{1,19})''?`;
  const bounds = (begins: string): string => `LATERAL (
      SELECT ${begins} AT TIME ZONE 'UTC' AS opens, (${begins} + step) AT TIME ZONE 'UTC' AS closes
    ) AS m, LATERAL (
      SELECT ${firstId('m.opens')} AS first, ${firstId('m.closes')} AS last
    ) AS r`;
  const retire = `
  FOR part IN
    SELECT u.begins, u.child FROM unnest(periods, children) AS u(begins, child)
    WHERE u.begins < present - ${keep} * step ORDER BY u.begins
  LOOP
    EXECUTE format('ALTER TABLE %s DETACH PARTITION %s', target, part.child);${
      drops
        ? `
    EXECUTE format('DROP TABLE %s', part.child);`
        : ''
    }
    RAISE NOTICE '${drops ? 'dropped' : 'detached'} % of %', part.child, target;
  END LOOP;
`;
  return [
    `DO $raindrop$
DECLARE
  target CONSTANT pg_catalog.regclass := ${textLiteral(quoteTable(dialect, table))};
  key CONSTANT pg_catalog.text := ${textLiteral(table.column)};
  step CONSTANT pg_catalog.interval := '1 ${period}';
  clock CONSTANT pg_catalog.timestamptz := pg_catalog.now();
  path CONSTANT pg_catalog.text := pg_catalog.current_setting('search_path');
  patience CONSTANT pg_catalog.text := pg_catalog.current_setting('lock_timeout');
  present timestamp;
  home text;
  title text;
  others regclass;
  fields text;
  taken numrange[];
  periods timestamp[];
  children regclass[];
  part record;
  child text;
  range text;
  crowded boolean;
  copied bigint;
  deleted bigint;
  inserted bigint;
BEGIN
  PERFORM pg_catalog.set_config('search_path', 'pg_catalog', true);
  IF patience = '0' THEN
    PERFORM set_config('lock_timeout', '10s', true);
  END IF;
  PERFORM pg_advisory_xact_lock(hashtextextended('raindrop partitions ' || target::oid, 0));
  IF pg_get_partkeydef(target) IS DISTINCT FROM format('RANGE (%I)', key) THEN
    RAISE EXCEPTION '% is not made with PARTITION BY RANGE (%)', target, key;
  END IF;
  present := ${startOf(`clock AT TIME ZONE 'UTC'`)};
  SELECT c.relnamespace::regnamespace::text, c.relname, nullif(p.partdefid, 0) INTO home, title, others
  FROM pg_class c JOIN pg_partitioned_table p ON p.partrelid = c.oid WHERE c.oid = target;
  SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) INTO fields FROM pg_attribute
  WHERE attrelid = target AND attnum > 0 AND NOT attisdropped AND attgenerated = '';

  SELECT coalesce(array_agg(numrange(f.first, f.last)), '{}'),
    coalesce(array_agg(f.begins) FILTER (WHERE f.is_own), '{}'), coalesce(array_agg(f.child) FILTER (WHERE f.is_own), '{}')
  INTO taken, periods, children FROM (
    SELECT c.oid::regclass AS child, b.first, b.last, t.begins,
      coalesce(c.relname = ${nameOf('t.begins')} AND b.first = r.first AND b.last = r.last, false) AS is_own
    FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid,
    regexp_match(pg_get_expr(c.relpartbound, c.oid), '^FOR VALUES FROM [(]${number}[)] TO [(]${number}[)]$') AS e,
    LATERAL (
      SELECT e[1]::numeric AS first, e[2]::numeric AS last, least(e[2]::numeric - 1, ${MAX_ID})::bigint AS id
    ) AS b, LATERAL (
      SELECT ${startOf(`(${timeOfSql(layout, dialect.family, 'b.id')}) AT TIME ZONE 'UTC'`)} AS begins
    ) AS t, ${bounds('t.begins')}
    WHERE i.inhparent = target AND NOT i.inhdetachpending AND e IS NOT NULL
  ) AS f;

  FOR part IN
    SELECT p.begins, r.first, r.last
    FROM generate_series(
      (SELECT least(max(u.begins) + step, present) FROM unnest(periods) AS u(begins) WHERE u.begins <= present),
      present + ${ahead} * step, step
    ) AS p(begins), ${bounds('p.begins')}
    WHERE r.first < r.last AND NOT numrange(r.first, r.last) <@ ANY (taken) ORDER BY p.begins
  LOOP
    child := format('%s.%I', home, ${nameOf('part.begins')});
    range := format('%I >= %s AND %I < %s', key, part.first, key, part.last);
    crowded := false;
    EXECUTE format('LOCK TABLE ONLY %s IN ACCESS EXCLUSIVE MODE', target);
    IF others IS NOT NULL THEN
      EXECUTE format('LOCK TABLE %s IN ACCESS EXCLUSIVE MODE', others);
      EXECUTE format('SELECT EXISTS (SELECT FROM %s WHERE %s)', others, range) INTO crowded;
    END IF;
    IF crowded THEN
      IF EXISTS (SELECT FROM pg_constraint WHERE contype = 'f' AND confrelid IN (target, others))
        OR EXISTS (
          SELECT FROM pg_trigger WHERE NOT tgisinternal
          AND tgrelid IN (SELECT target::oid UNION ALL SELECT relid FROM pg_partition_tree(others))
        )
      THEN
        RAISE EXCEPTION '% has rows of %, and % has triggers, or foreign keys refer to it', others, child, target
          USING HINT = format('Move the rows with %s by hand, and run this again.', range);
      END IF;
      EXECUTE format('CREATE TEMP TABLE raindrop_moved AS SELECT %s FROM %s WHERE %s', fields, others, range);
      GET DIAGNOSTICS copied = ROW_COUNT;
      EXECUTE format('DELETE FROM %s WHERE %s', others, range);
      GET DIAGNOSTICS deleted = ROW_COUNT;
    END IF;
    EXECUTE format('CREATE TABLE %s PARTITION OF %s FOR VALUES FROM (%s) TO (%s)', child, target, part.first, part.last);
    IF crowded THEN
      PERFORM set_config('search_path', path, true);
      EXECUTE pg_catalog.format(
        'INSERT INTO %s (%s) OVERRIDING SYSTEM VALUE SELECT %s FROM pg_temp.raindrop_moved', child, fields, fields);
      GET DIAGNOSTICS inserted = ROW_COUNT;
      PERFORM pg_catalog.set_config('search_path', 'pg_catalog', true);
      IF copied <> deleted OR inserted <> deleted THEN
        RAISE EXCEPTION 'of % rows for %, % were deleted from % and % inserted', copied, child, deleted, others, inserted;
      END IF;
      DROP TABLE pg_temp.raindrop_moved;
      RAISE NOTICE 'moved % rows from % to %', inserted, others, child;
    END IF;
    periods := periods || part.begins;
    children := children || child::regclass;
    RAISE NOTICE 'made % of %', child, target;
  END LOOP;
${keep === undefined ? '' : retire}
  PERFORM set_config('lock_timeout', patience, true);
  PERFORM set_config('search_path', path, true);
END
$raindrop$`,
  ];
}

/**
 * Statements without a block, because clients split a block at its semicolons. Each ALTER TABLE is computed as a text, and
 * is `DO 0` where there is nothing to do. `pmax` is divided with the rows that it has. Where the scheduler has slept, the
 * missed partitions are made as well: their rows are in `pmax`.
 */
function onMysql(layout: Layout, dialect: Dialect, table: KeyPath, { period, ahead, keep }: Upkeep): string[] {
  const path = quoteTable(dialect, table);
  const column = dialect.quote(table.column);
  const schema = table.schema === undefined ? 'DATABASE()' : textLiteral(table.schema);
  const name = textLiteral(table.name);
  const lock = `concat('raindrop ', md5(concat(${schema}, '.', ${name})))`;
  const unit = period.toUpperCase();
  const startOf: Readonly<Record<Period, (date: string) => string>> = {
    month: (date) => `${date} - INTERVAL (DAYOFMONTH(${date}) - 1) DAY`,
    week: (date) => `${date} - INTERVAL WEEKDAY(${date}) DAY`,
    day: (date) => date,
  };
  const begin = (time: string): string => startOf[period](`CAST(${time} AS DATE)`);
  const present = begin('@raindrop_now');
  const firstId = (moment: string): string => `LEAST(${firstIdSql(layout, dialect.family, moment)}, ${MAX_ID})`;
  const isLocked = `@raindrop_lock = 1`;
  const ranges =
    `information_schema.PARTITIONS WHERE TABLE_SCHEMA = ${schema} AND TABLE_NAME = ${name}\n` +
    `    AND PARTITION_METHOD = 'RANGE' AND PARTITION_EXPRESSION IN (${textLiteral(column)}, ${textLiteral(table.column)})`;
  const last = `CAST(CASE WHEN PARTITION_DESCRIPTION REGEXP '^[0-9]+$' THEN PARTITION_DESCRIPTION END AS UNSIGNED)`;
  const execute = [
    'PREPARE raindrop_change FROM @raindrop_sql',
    'EXECUTE raindrop_change',
    'DEALLOCATE PREPARE raindrop_change',
  ];
  const complaint = (text: string): string =>
    textLiteral(`SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = ${textLiteral(text)}`);

  const add = `SET @raindrop_sql = (
  WITH RECURSIVE made AS (
    SELECT MAX(${last}) AS highest, COUNT(*) AS parts FROM ${ranges}
  ), present AS (
    SELECT ${present} AS begins
  ), periods AS (
    SELECT COALESCE(${begin(timeOfSql(layout, dialect.family, 'made.highest'))}, present.begins) AS begins FROM made, present
    UNION ALL
    SELECT periods.begins + INTERVAL 1 ${unit} FROM periods, present WHERE periods.begins < present.begins + INTERVAL ${ahead} ${unit}
  ), ids AS (
    SELECT periods.begins, ${firstId('periods.begins')} AS first, ${firstId(`(periods.begins + INTERVAL 1 ${unit})`)} AS last
    FROM periods, present WHERE periods.begins <= present.begins + INTERVAL ${ahead} ${unit}
  )
  SELECT CASE WHEN ${isLocked} THEN CASE WHEN MAX(made.parts) = 0 THEN ${complaint(`${table.name} is not made with PARTITION BY RANGE (${table.column})`)}
    ELSE COALESCE(concat(${textLiteral(`ALTER TABLE ${path} REORGANIZE PARTITION pmax INTO (`)},
      GROUP_CONCAT('PARTITION ', DATE_FORMAT(ids.begins, '${NAMES[period].dateFormat}'), ' VALUES LESS THAN (', ids.last, '), '
        ORDER BY ids.begins SEPARATOR ''),
      'PARTITION pmax VALUES LESS THAN MAXVALUE)'), 'DO 0') END
    ELSE ${complaint(`another session keeps the partitions of ${table.name}`)} END
  FROM made LEFT JOIN ids ON ids.first < ids.last AND ids.last > COALESCE(made.highest, 0)
)`;
  const drop = `SET @raindrop_sql = (
  SELECT CASE WHEN ${isLocked} THEN COALESCE(concat(${textLiteral(`ALTER TABLE ${path} DROP PARTITION `)},
    GROUP_CONCAT(DISTINCT old.name ORDER BY old.name SEPARATOR ', ')), 'DO 0') ELSE 'DO 0' END
  FROM (
    SELECT part.name, part.last, ${begin(timeOfSql(layout, dialect.family, '(part.last - 1)'))} AS begins
    FROM (SELECT PARTITION_NAME AS name, ${last} AS last FROM ${ranges}) AS part
    WHERE part.last > 0
  ) AS old
  WHERE old.name = DATE_FORMAT(old.begins, '${NAMES[period].dateFormat}')
    AND old.last = ${firstId(`(old.begins + INTERVAL 1 ${unit})`)}
    AND old.begins < ${present} - INTERVAL ${keep} ${unit}
)`;
  return [
    'SET @raindrop_length = @@SESSION.group_concat_max_len, @raindrop_wait = @@SESSION.lock_wait_timeout',
    'SET SESSION group_concat_max_len = 1000000, SESSION lock_wait_timeout = 10',
    'SET @raindrop_now = UTC_TIMESTAMP()',
    `SET @raindrop_lock = GET_LOCK(${lock}, 10)`,
    add,
    ...execute,
    ...(keep === undefined ? [] : [drop, ...execute]),
    `DO RELEASE_LOCK(${lock})`,
    'SET SESSION group_concat_max_len = @raindrop_length, SESSION lock_wait_timeout = @raindrop_wait',
  ];
}
