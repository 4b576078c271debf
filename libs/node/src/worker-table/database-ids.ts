import type { FenceRequest, Layout } from '@raindrop/core';
import { DATABASE_CODE } from '@raindrop/core/internal';
import { type Dialect, quoteTable, type RunStatement } from '../database/dialect.js';
import { DatabaseCallError } from '../database/database-errors.js';
import { postgresDialect } from '../database/postgres-dialect.js';
import { isTableName, parseTableName, type TableName } from '../database/table-name.js';
import { ofState, stateTableOf } from '../tables/state-table.js';
import { layoutTableOf } from './worker-table.js';

/**
 * IDs that PostgreSQL makes itself, for rows that no process of ours inserts: one function without arguments, for a
 * column's DEFAULT. This is why no ID comes twice:
 *
 * - **The worker row is the database's for good.** It is marked deleted, and its code is `database`. No process may
 *   acquire a row that is marked deleted, and the odometer of lane 0 stands at the end of time: a conflicting layout is
 *   refused.
 * - **Two sequences.** `<name>_tick` is the tick that is open. `<name>_position` counts the places: tick, then sequence in
 *   the tick. `nextval` gives each place once, until `setval` sets the counter anew.
 * - **A tick is opened once**, under a lock, after every earlier one: the counter is set to the tick's first place, then the
 *   tick is noted as open. A call returns a place only if it saw the place's tick open **before** it drew the place. So all
 *   places of a tick that are returned were drawn after the one `setval` to its start, and before the next one, which
 *   goes further. No clock, pause or kill between two of these steps matters. Without that order a place that a busy
 *   session draws beyond the tick would come again after the `setval`.
 * - **The open tick is forgotten** where the counter may have gone back: `<name>_tick` is UNLOGGED, so a crash or a failover
 *   empties it. Then the counter is set past itself, and past the present + {@link AHEAD_MS} + {@link SKEW_MS}.
 * - **A fence closes the tick** (`<name>_close`, the tick becomes 0), and sets the counter past the fence's end.
 * - **Before the first tick after an installation, a crash or a fence** the table is looked at as by a process that starts:
 *   for a fence that the installation did not see, and for layouts that were not there then. Layouts of the past that the
 *   installation saw could come back until it was committed: so before the first tick of all a process must hold a row
 *   with this layout, as at the installation.
 * - **Both sequences are the files that were installed.** ALTER SEQUENCE and a restored dump make new ones, which may have
 *   gone back, or may not be emptied by a crash: then the function has to be installed again. A call compares them after it
 *   has drawn its place: from then on its transaction's locks keep ALTER SEQUENCE out.
 *
 * The functions belong to the owner of the worker table: they run with the owner's rights, and a fence runs what a row names.
 * Sequences know no snapshot and no rollback. The worker row does: a transaction of REPEATABLE READ locks it to see it as it
 * is now.
 *
 * Example, a layout of seconds: at 12:00:07 the first call opens tick 12:00:07, and returns place 0. When its 2^18 places
 * are drawn, the next call opens 12:00:08, up to 12:00:10. Then calls wait for the clock.
 */

/** The end of time in a row's odometer, Unix ms: the last moment that a Date can hold. */
const FOR_GOOD_MS = 8_640_000_000_000_000;

/** How far ahead of the clock IDs are made when a tick is used up, and how long a call waits then, ms. */
export const AHEAD_MS = 3_000;

/** How far the clocks of a primary and of its standby may be apart, ms. */
const SKEW_MS = 1_000;

/** The first half of the key of the advisory lock; the second one is the sequence. */
const LOCK_CLASS = 0x52_44_49_44;

/** Not now: the next tries may succeed. Example: the clock is behind by hours. */
const NOT_NOW = 'RD001';

/** Not in order: an operator has to do something. Example: the worker row is gone. */
const NOT_IN_ORDER = 'RD002';

/** Raised and caught inside: it ends the block that holds the lock. */
const UNLOCK = 'RD003';

/** What to do about a function that is not in order, as a literal. */
const INSTALL_AGAIN = literal('After a restore: fence, then install the function again: raindrop sql --issue.');

/** What is wrong with sequences that are not the files that were installed, as a literal. */
const ALTERED = literal('the sequences of this function were altered, or come from a dump');

/** The longest suffix is `_position`. */
const LONGEST_NAME = 63 - '_position'.length;

/** The function to install. */
interface DatabaseIds {
  readonly layout: Layout;
  readonly workerId: number;
  /** The worker table. */
  readonly table: TableName;
  /** Without a schema it is the session's current one. */
  readonly name: TableName;
  /** The roles that may call the function, beside its owner. */
  readonly grantTo: readonly string[];
  /** How long after its end a lease is respected, ms. */
  readonly graceMs: number;
  /** How far the grants of processes reach past a failover, ms. */
  readonly reachMs: number;
  /** Whether rows of other programs are expected in the table. */
  readonly adoptForeign: boolean;
}

/** Whether a text can name the function. */
export function isFunctionName(text: string): boolean {
  return isTableName(text) && parseTableName(text).name.length <= LONGEST_NAME;
}

/** One statement that installs the function, or renews it. PostgreSQL 15 and later. */
export function installSql(ids: DatabaseIds): string {
  const { layout, workerId, table, name, grantTo, graceMs, reachMs, adoptForeign } = ids;
  const regclass = (of: TableName): string => `pg_catalog.to_regclass(${literal(quoteTable(postgresDialect, of))})`;
  const object = (suffix: string): string => `format('%I.%I', home, ${literal(name.name + suffix)})`;
  const functions = ['', '_open', '_close'].map((suffix) => literal(name.name + suffix)).join(', ');
  const [position, tick] = [object('_position'), object('_tick')];
  const openText = `(SELECT prosrc FROM pg_proc WHERE oid = to_regprocedure(${object('_open')} || '(bigint)'))`;
  const fingerprint = literal(layout.fingerprint);
  const about = literal(`Raindrop: makes the IDs of worker ${workerId}, layout ${layout.fingerprint}`);
  const giveOther = literal('Give another worker id: --worker.');
  const refuse = (message: string, hint: string): string => raise(NOT_IN_ORDER, message, hint);
  const asNew = 'AS bigint INCREMENT 1 MINVALUE 0 NO MAXVALUE START 0 CACHE 1 NO CYCLE';
  const refuseStrangers = `IF EXISTS (SELECT FROM pg_proc WHERE pronamespace = to_regnamespace(quote_ident(home)) AND proname IN (${functions}) AND pg_get_userbyid(proowner) <> current_user)
      OR EXISTS (SELECT FROM pg_class WHERE oid IN (to_regclass(${position}), to_regclass(${tick})) AND (relkind <> 'S' OR pg_get_userbyid(relowner) <> current_user)) THEN
    ${refuse(`'functions or sequences with the name ' || name || ' belong to another role than ' || current_user || ', or are no sequences'`, literal('Run it as that role, or drop them first.'))}
  END IF;`;
  // A row that another layout has had tells by its later odometer how far that one has come.
  const isSame = `own.layout IN ('', ${fingerprint})`;
  const later = 'greatest(own.odo0_ms, own.odo1_ms)';
  const body = `
DECLARE
  path constant pg_catalog.text := pg_catalog.current_setting('search_path');
  patience constant pg_catalog.text := pg_catalog.current_setting('lock_timeout');
  home constant pg_catalog.text := ${name.schema === undefined ? 'pg_catalog.current_schema()' : literal(name.schema)};
  workers constant pg_catalog.regclass := ${regclass(table)};
  layouts constant pg_catalog.regclass := ${regclass(layoutTableOf(table))};
  state constant pg_catalog.regclass := ${regclass(stateTableOf(table))};
  name pg_catalog.text; own pg_catalog.record; server pg_catalog.record; is_ours boolean; was_installed boolean; now_ms bigint;
  first_tick bigint; counted bigint; has_opened boolean := false; served_ms bigint; barred_ms bigint;
  others pg_catalog.text; holding pg_catalog.text; accepted pg_catalog.text; installer pg_catalog.text; files pg_catalog.text;
BEGIN
  PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
  PERFORM set_config('lock_timeout', '3s', true);
  IF current_setting('server_version_num')::int < 150000 THEN
    ${refuse(literal('PostgreSQL before version 15 cannot forget the open tick in a crash'), literal('Update the server.'))}
  ELSIF workers IS NULL OR layouts IS NULL OR state IS NULL THEN
    ${refuse(literal(`there is no worker table ${nameOf(table)} here, or it lacks the tables beside it`), literal('Run raindrop init first, or set search_path.'))}
  ELSIF home IS NULL OR to_regnamespace(quote_ident(home)) IS NULL OR home !~ '^[A-Za-z_][A-Za-z0-9_]*$' OR concat(workers, layouts) !~ '^[A-Za-z0-9_."]+$' THEN
    ${refuse(`concat('the function needs a schema that exists, and it and the worker table plain names: ', coalesce(home, '(no schema)'), ', ', workers)`, literal('Names may have letters, digits and underscores. Give one with a schema, such as public.raindrop_id.'))}
  ELSIF current_setting('transaction_isolation') <> 'read committed' THEN
    ${refuse(literal('this must run at the isolation level READ COMMITTED'), literal('Begin with BEGIN ISOLATION LEVEL READ COMMITTED, or set default_transaction_isolation.'))}
  ELSIF EXISTS (SELECT FROM pg_class WHERE oid IN (workers, layouts, state) AND pg_get_userbyid(relowner) <> current_user) THEN
    ${refuse(`'the worker table, and those beside it, do not belong to ' || current_user || ': the function runs with the rights of its owner, who must be theirs'`, literal('Run it as the owner of the tables, for example by SET ROLE.'))}
  END IF;
  -- One installation after the other.
  PERFORM pg_advisory_xact_lock(${LOCK_CLASS}, 0);
  -- A lost commit of this transaction would give the worker id to a process.
  IF current_setting('synchronous_commit') = 'off' THEN PERFORM set_config('synchronous_commit', 'on', true); END IF;
  name := home || ${literal(`.${name.name}`)};
  -- Before a sequence is read: in its place a stranger's view would run what it names, with the rights of the role that installs.
  ${refuseStrangers}
  EXECUTE format('SELECT count(*) = 1 FROM %s w WHERE ${isDatabaseRowOf(ids, '%L')}', workers, name) INTO is_ours;
  IF NOT is_ours THEN
    EXECUTE format('INSERT INTO %s (id, heartbeat_time, version, own_version) VALUES (${workerId}, %L, 1, 1) ON CONFLICT (id) DO NOTHING', workers, ${postgresDialect.unusedTime});
    EXECUTE format('SELECT * FROM %s WHERE id = ${workerId} FOR UPDATE', workers) INTO own;
  END IF;
  now_ms := ${NOW_MS};
  was_installed := to_regclass(${position}) IS NOT NULL AND to_regclass(${tick}) IS NOT NULL
    AND coalesce(strpos(${openText}, ${about}) > 0, false);
  IF NOT is_ours THEN
    IF own.del_flag <> 2 AND own.code = '${DATABASE_CODE}' THEN
      ${refuse(`'worker ${workerId} belongs to the function ' || own.holder || '(), layout ' || own.layout`, giveOther)}
    ELSIF own.del_flag <> 2 THEN
      ${refuse(literal(`worker ${workerId} is marked deleted`), giveOther)}
    ELSIF own.code <> '' AND own.own_version <> own.version THEN
      ${refuse(literal(`another program wrote the row of worker ${workerId} last`), giveOther)}
    ELSIF own.token <> '' AND own.lease_until + ${graceMs} > now_ms THEN
      ${refuse(`'worker ${workerId} is held by ' || own.holder`, literal('Give another worker id: --worker, best one outside the range of the services.'))}
    ELSIF NOT was_installed AND (to_regclass(${position}) IS NOT NULL OR to_regclass(${tick}) IS NOT NULL
        OR EXISTS (SELECT FROM pg_proc WHERE pronamespace = to_regnamespace(quote_ident(home)) AND proname IN (${functions}))) THEN
      ${refuse(`'functions or sequences with the name ' || name || ' exist, which do not make the IDs of worker ${workerId}'`, literal('Give another name: --name. If they are left over, drop them first.'))}
    END IF;
    EXECUTE format(${literal(conflictsSql(layout, heldLayouts('%s', graceMs)))}, workers) INTO holding;
    IF holding IS NOT NULL THEN
      ${refuse(`'processes hold rows with other layouts: ' || holding`, literal('Stop them, or use a worker table of its own.'))}
    END IF;${
      adoptForeign
        ? ''
        : `
    EXECUTE format('SELECT string_agg(id::text, '', '' ORDER BY id) FROM %s WHERE del_flag = 2 AND code <> '''' AND own_version <> version', workers) INTO holding;
    IF holding IS NOT NULL THEN
      ${refuse(`'other programs wrote the rows of these workers last, with a layout that is not known: ' || holding`, literal('Install it with the option adoptForeign if they have this layout.'))}
    END IF;`
    }
    EXECUTE format(${literal(conflictsSql(layout, knownLayouts('%1$s', '%2$s')))}, workers, layouts) INTO others;
    EXECUTE format(${literal(servedSql(layout, '%s'))}, workers) INTO served_ms;
    IF others IS NOT NULL AND served_ms IS NULL THEN
      ${refuse(`'the worker table has served other layouts: ' || others || '; no process holds a row with ${layout.fingerprint}'`, literal('Start a service with this layout, and run this again while it runs.'))}
    END IF;
    first_tick := greatest(${tickOf(layout, 'now_ms')}, ${tickOf(layout, 'served_ms')} + 1);
    IF own.code <> '' OR own.odo0_ms > 0 THEN
      -- After all that a former holder may have issued, in this tick too.
      first_tick := greatest(first_tick + 1, ${tickOf(layout, `CASE WHEN ${isSame} THEN own.odo0_ms ELSE ${later} END`)} + 1);
    END IF;
  ELSIF NOT was_installed THEN
    ${refuse(`'the sequences of ' || name || ', or its function ${name.name}_open, are gone, and with them how far worker ${workerId} has come'`, literal('Drop what is left, and install it with another worker id: --worker.'))}
  END IF;
  files := ${filesSql(`to_regclass(${position})`, `to_regclass(${tick})`)};
  installer := substring(${openText} FROM ${literal(`installed_by constant text := '([0-9]+)'`)});
  accepted := CASE WHEN is_ours THEN substring(${openText} FROM ${literal(`accepted constant text := '([^']*)'`)}) ELSE coalesce(others, '') END;
  IF NOT is_ours OR coalesce(strpos(${openText}, quote_literal(files)), 0) = 0 THEN
    -- Where a failover is not recorded yet, processes may go on by grants that this server lacks: as long as a loss bars.
    EXECUTE format('SELECT s.term, greatest(s.fenced_until_ms, CASE WHEN s.lost_at_ms > 0 THEN s.lost_at_ms + greatest(s.reach_ms, ${reachMs}) END) AS barred_ms FROM %s s WHERE s.id = 1', state) INTO server;
    barred_ms := greatest(server.barred_ms, CASE WHEN server.term <> '' AND server.term <> ${postgresDialect.term} THEN now_ms + ${reachMs} END);
    IF was_installed THEN
      -- Either may have been set back. Both keep the grants of the roles that call.
      EXECUTE format('SELECT greatest(p.last_value >> ${sequenceBits(layout)}, t.last_value), p.is_called AND %L FROM %s p, %s t', is_ours, ${position}, ${tick}) INTO counted, has_opened;
      EXECUTE format('ALTER SEQUENCE %s SET LOGGED', ${position});
      EXECUTE format('ALTER SEQUENCE %s SET UNLOGGED', ${tick});
      EXECUTE format('ALTER SEQUENCE %s ${asNew} RESTART OWNED BY NONE', ${position});
      EXECUTE format('ALTER SEQUENCE %s ${asNew} RESTART OWNED BY NONE', ${tick});
      first_tick := greatest(first_tick, counted + 1, ${tickOf(layout, `(now_ms + ${AHEAD_MS + SKEW_MS})`)} + 1);
    END IF;
    first_tick := greatest(first_tick, ${tickOf(layout, 'barred_ms')} + 1);
    IF first_tick NOT BETWEEN 1 AND ${layout.maxTick} THEN
      ${refuse(literal(`the layout ${layout.fingerprint} has no ticks at this time`), literal('Look at the clock of the server, and at the layout: raindrop plan.'))}
    END IF;
    EXECUTE format('CREATE SEQUENCE IF NOT EXISTS %s ${asNew}', ${position});
    EXECUTE format('CREATE UNLOGGED SEQUENCE IF NOT EXISTS %s ${asNew}', ${tick});
    -- The place before the first one. It stands as drawn where a tick was opened: the function _open asks.
    PERFORM setval(${position}, ${shiftUp(layout, 'first_tick')} - 1, has_opened);
    -- On a server that was promoted an installation like this one may have been lost, with IDs that were seen.
    IF substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) = '00000001' THEN
      PERFORM setval(${tick}, 0);
    END IF;
    files := ${filesSql(`to_regclass(${position})`, `to_regclass(${tick})`)};
    installer := pg_current_xact_id()::text;
  END IF;
  IF NOT is_ours THEN
    EXECUTE format('UPDATE %s SET del_flag = 1, code = ''${DATABASE_CODE}'', token = '''', holder = %L, layout = %L, lane = 0, odo0_ms = ${FOR_GOOD_MS}, odo0_seq = ${Number.MAX_SAFE_INTEGER}, odo1_ms = %s, odo1_seq = %s, version = version + 1, own_version = version + 1, lease_until = %s, heartbeat_time = to_timestamp(%s / 1000.0), update_time = clock_timestamp() WHERE id = ${workerId}',
      workers, name, ${fingerprint}, CASE WHEN ${isSame} THEN own.odo1_ms ELSE ${later} END,
      CASE WHEN ${isSame} THEN own.odo1_seq ELSE ${Number.MAX_SAFE_INTEGER} END, now_ms, ${startMs(layout, 'first_tick')});
    EXECUTE format('INSERT INTO %s (fingerprint, first_seen_ms) VALUES (%L, %s) ON CONFLICT (fingerprint) DO NOTHING', layouts, ${fingerprint}, now_ms);
  END IF;
${createFunction(object, '', issueFunction(ids))}
${createFunction(object, '_open', openFunction(ids, about))}
${createFunction(object, '_close', closeFunction(ids))}
  EXECUTE format('COMMENT ON FUNCTION %s() IS %L', ${object('')}, ${about});
  -- Of one that came meanwhile: it would go on with the stranger's text, and with the rights of each who calls it.
  ${refuseStrangers}
  EXECUTE format('REVOKE ALL ON FUNCTION %s(bigint) FROM PUBLIC', ${object('_open')});
  EXECUTE format('GRANT EXECUTE ON FUNCTION %s(bigint, boolean) TO PUBLIC', ${object('_close')});
${grantTo.map((role) => grant(object, role)).join('\n')}
  PERFORM set_config('lock_timeout', patience, true);
  PERFORM set_config('search_path', path, true);
END
`;
  const tag = tagFor(body, '$install');
  return `DO ${tag}${body}${tag}`;
}

/** Creates a function of the text, whose `{...}` stand for what is known when it is installed. */
function createFunction(object: (suffix: string) => string, suffix: string, text: string): string {
  const tag = tagFor(text, '$create');
  const values: readonly (readonly [mark: string, sql: string])[] = [
    ['{function}', object(suffix)],
    ['{opener}', object('_open')],
    ['{position}', `quote_literal(${object('_position')})`],
    ['{tick}', `quote_literal(${object('_tick')})`],
    ['{counter}', object('_position')],
    ['{workers}', 'quote_literal(workers::text)'],
    ['{table}', 'workers::text'],
    ['{layouts}', 'layouts::text'],
    ['{name}', 'quote_literal(name)'],
    ['{state}', 'state::text'],
    ['{installer}', 'quote_literal(installer)'],
    ['{accepted}', 'quote_literal(accepted)'],
    ['{files}', 'quote_literal(files)'],
  ];
  const filled = values
    .filter(([mark]) => text.includes(mark))
    .reduce((sql, [mark, value]) => `replace(${sql}, '${mark}', ${value})`, `${tag}${text}${tag}`);
  return `  EXECUTE ${filled};`;
}

/**
 * Returns an ID. It is called for each row, with the rights and the search_path of the session: so all names and
 * operators are qualified, and it reads no table.
 */
function issueFunction({ layout, workerId }: DatabaseIds): string {
  const sql = (left: string, operator: string, right: string | number): string =>
    `(${left} OPERATOR(pg_catalog.${operator}) ${right})`;
  const { shift, bits } = layout.fields.find(({ role }) => role === 'sequence')!;
  const worker = layout.pack({ tick: 0, workerId, clockBack: 0, sequence: 0 });
  const start = (tick: string): string =>
    sql(sql(tick, '+', `${layout.timeline.epochTick}::bigint`), '*', `${layout.unitMs}::bigint`);
  const isEnded = sql('now_ms', '>=', start(sql('opened', '+', '1::bigint')));
  const isAhead = sql(start('opened'), '>', sql('now_ms', '+', `${AHEAD_MS}::bigint`));
  const sequence = sql(sql('place', '&', `${layout.maxSequence}::bigint`), '<<', shift);
  const id = sql(sql(sql('opened', '<<', layout.lowBits), '|', `${worker}::bigint`), '|', sequence);
  const isLate = sql(sql('now_ms', '-', 'began_ms'), '>', `${AHEAD_MS}::bigint`);
  // A clock that stands still ends no wait.
  const isTooLong = sql('waited_ms', '>', `${AHEAD_MS}::bigint`);
  return `CREATE OR REPLACE FUNCTION {function}() RETURNS bigint LANGUAGE plpgsql VOLATILE AS $issue$
DECLARE
  opened bigint; place bigint; now_ms bigint; began_ms bigint; waited_ms bigint := 0;
BEGIN
  LOOP
    -- The open tick is read before the place is drawn: see the rule in {opener}.
    opened := pg_catalog.pg_sequence_last_value({tick}::pg_catalog.regclass);
    now_ms := pg_catalog.floor(${sql('EXTRACT(epoch FROM pg_catalog.clock_timestamp())', '*', '1000::numeric')})::bigint;
    IF opened IS NOT NULL AND NOT ${isEnded} AND NOT ${isAhead} THEN
      place := pg_catalog.nextval({position}::pg_catalog.regclass);
      IF ${sql(sql('place', '>>', bits), '=', 'opened')} THEN
        -- From here on the transaction's locks keep ALTER SEQUENCE out.
        IF ${sql(filesSql('{position}::pg_catalog.regclass', '{tick}::pg_catalog.regclass'), '<>', '{files}::pg_catalog.text')} THEN
          ${raise(NOT_IN_ORDER, ALTERED, INSTALL_AGAIN)}
        END IF;
        RETURN ${id};
      END IF;
    END IF;
    began_ms := COALESCE(began_ms, now_ms);
    IF ${isLate} OR ${isTooLong} THEN
      ${raise(NOT_NOW, literal(`no ID could be had within ${AHEAD_MS} ms: other sessions use up the IDs of every tick, or hold a lock`), literal(`The layout has ${layout.idsPerTick} IDs in a tick of ${layout.unitMs} ms.`))}
    END IF;
    waited_ms := ${sql('waited_ms', '+', '{opener}(opened)')};
  END LOOP;
END $issue$`;
}

/**
 * Opens the next tick, unless another session has done so, and waits for the clock where it may not be used yet. Returns
 * how long it has waited, ms.
 */
function openFunction(ids: DatabaseIds, about: string): string {
  const { layout, workerId, graceMs } = ids;
  const bits = sequenceBits(layout);
  const isOurs = isDatabaseRowOf(ids, '{name}');
  return `CREATE OR REPLACE FUNCTION {function}(seen bigint) RETURNS bigint LANGUAGE plpgsql VOLATILE
  SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '3s' AS $open$
-- ${about.slice(1, -1)}.
-- A tick is opened once, after every earlier one: the counter is set to its first place, then it is noted as open. A
-- place is returned only by a call that saw its tick open before it drew the place.
DECLARE
  installed_by constant text := {installer};
  accepted constant text := {accepted};
  opened bigint; next_tick bigint; now_ms bigint; served_ms bigint; is_found boolean; others text; wait_ms bigint := 0;
BEGIN
  IF pg_current_xact_id_if_assigned()::text = installed_by THEN
    ${raise(NOT_NOW, literal('the transaction that has installed this function is not committed'), literal('Commit it first: a rollback would give its worker id to a process.'))}
  END IF;
  -- The exception that ends this block undoes nothing but the locks: sequences are not rolled back.
  BEGIN
    PERFORM pg_advisory_xact_lock(${LOCK_CLASS}, {position}::regclass::oid::int);
    opened := pg_sequence_last_value({tick}::regclass);
    now_ms := ${NOW_MS};
    IF opened IS DISTINCT FROM seen THEN
      NULL;
    ELSIF opened > 0 AND ${startMs(layout, 'opened')} > now_ms + ${AHEAD_MS} THEN
      wait_ms := ${startMs(layout, 'opened')} - ${AHEAD_MS} - now_ms;
    ELSE
      IF current_setting('transaction_isolation') = 'read committed' THEN
        PERFORM FROM {table} w WHERE ${isOurs};
      ELSE
        -- The row as it is now, and not as this transaction's snapshot has it.
        PERFORM FROM {table} w WHERE ${isOurs} FOR SHARE;
      END IF;
      is_found := FOUND;
      IF ${filesSql('{position}::regclass', '{tick}::regclass')} <> {files} THEN
        ${raise(NOT_IN_ORDER, ALTERED, INSTALL_AGAIN)}
      ELSIF NOT is_found AND NOT pg_visible_in_snapshot(installed_by::xid8, pg_current_snapshot()) THEN
        ${raise(NOT_NOW, literal('this transaction began before this function was installed, and does not see its worker row'), literal('Begin a new transaction.'))}
      ELSIF NOT is_found THEN
        ${raise(NOT_IN_ORDER, literal(`the row of worker ${workerId} in {table} does not belong to this function any more`), INSTALL_AGAIN)}
      END IF;
      next_tick := greatest(${tickOf(layout, 'now_ms')}, CASE WHEN opened > 0 THEN opened ELSE (SELECT last_value >> ${bits} FROM {counter}) END + 1);
      IF opened IS NULL OR opened = 0 THEN
        -- As a process that starts: layouts, and a fence, that the installation did not see.
        others := coalesce((${conflictsSql(layout, heldLayouts('{table}', graceMs))}), (${conflictsSql(layout, knownLayouts('{table}', '{layouts}'), `AND layout <> ALL (string_to_array(accepted, ', '))`)}));
        IF others IS NOT NULL THEN
          ${raise(NOT_IN_ORDER, `'the worker table has served layouts that were not there when this function was installed: ' || others`, literal('Stop their processes, and drop this function: its worker id stays out of use.'))}
        END IF;
        IF accepted <> '' AND pg_sequence_last_value({position}::regclass) IS NULL THEN
          -- The first tick of all. Until the installation was committed, processes of those layouts could start again.
          served_ms := (${servedSql(layout, '{table}')});
          IF served_ms IS NULL THEN
            ${raise(NOT_IN_ORDER, `'the worker table has served other layouts: ' || accepted || '; no process holds a row with ${layout.fingerprint}'`, literal('Start a service with this layout, and call this again while it runs.'))}
          END IF;
          next_tick := greatest(next_tick, ${tickOf(layout, 'served_ms')} + 1);
        END IF;
        next_tick := greatest(next_tick, (SELECT ${tickOf(layout, 's.fenced_until_ms')} + 1 FROM {state} s WHERE s.id = 1));
      END IF;
      IF opened IS NULL THEN
        next_tick := greatest(next_tick, ${tickOf(layout, `(now_ms + ${AHEAD_MS + SKEW_MS})`)} + 1);
      END IF;
      IF next_tick > ${layout.maxTick} THEN
        ${raise(NOT_IN_ORDER, literal(`the layout has no IDs after tick ${layout.maxTick}`), literal('Move to a layout with a later end: raindrop plan.'))}
      END IF;
      wait_ms := greatest(${startMs(layout, 'next_tick')} - ${AHEAD_MS} - now_ms, 0);
      IF wait_ms > 0 AND opened > 0 THEN
        -- Calls have drawn past the end of the open tick, in vain: a fence or a crash would go on after all that.
        PERFORM setval({position}::regclass, ${shiftUp(layout, '(opened + 1)')} - 1) FROM {counter} WHERE last_value >> ${bits} > opened;
      END IF;
      IF opened IS NULL THEN
        -- What was forgotten is made as after a fence: the tick is opened when the clock has come near it.
        PERFORM setval({position}::regclass, ${shiftUp(layout, 'next_tick')} - 1);
        PERFORM setval({tick}::regclass, 0);
      ELSIF wait_ms = 0 THEN
        PERFORM setval({position}::regclass, ${shiftUp(layout, 'next_tick')}, false);
        PERFORM setval({tick}::regclass, next_tick);
      END IF;
    END IF;
    RAISE EXCEPTION USING ERRCODE = '${UNLOCK}';
  EXCEPTION
    WHEN SQLSTATE '${UNLOCK}' THEN NULL;
    WHEN lock_not_available THEN
      ${raise(NOT_NOW, literal('another session holds the lock of {counter}, or of {table}'), literal('See pg_locks.'))}
  END;
  IF wait_ms > ${AHEAD_MS} THEN
    ${raise(NOT_NOW, `'the next ID can be made in ' || wait_ms || ' ms'`, literal('The IDs of this tick are used up, the clock is behind, or a fence bars the function until then.'))}
  END IF;
  PERFORM pg_sleep(wait_ms / 1000.0);
  RETURN wait_ms;
END $open$`;
}

/**
 * What a fence calls: nothing of a time up to `until_ms` is issued any more. `is_stated`: the operator states that nothing
 * of a later time was issued, and the counter may go back.
 */
function closeFunction({ layout }: DatabaseIds): string {
  const after = `least(${tickOf(layout, 'until_ms')}, ${layout.maxTick}) + 1`;
  // Sessions may have issued ahead of the clock, whatever is stated.
  const stated = `greatest(${after}, ${tickOf(layout, `(${NOW_MS} + ${AHEAD_MS})`)} + 1)`;
  const next = `CASE WHEN is_stated THEN ${stated} ELSE greatest(CASE WHEN opened > 0 THEN opened ELSE last_value >> ${sequenceBits(layout)} END + 1, ${after}) END`;
  return `CREATE OR REPLACE FUNCTION {function}(until_ms bigint, is_stated boolean) RETURNS void LANGUAGE plpgsql VOLATILE
  SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '3s' AS $close$
DECLARE
  opened bigint;
BEGIN
  -- Of the role that the session has taken on: the rights of this function are its owner's.
  IF NOT has_table_privilege(CASE current_setting('role') WHEN 'none' THEN session_user ELSE current_setting('role') END, {workers}, 'UPDATE') THEN
    ${raise('insufficient_privilege', literal('an account must have the right to UPDATE the worker table to fence it'), `'The table is ' || {workers} || '.'`)}
  ELSIF until_ms IS NULL OR until_ms < 0 OR is_stated IS NULL THEN
    ${raise('invalid_parameter_value', literal('until_ms must be Unix milliseconds, and is_stated true or false'), literal('raindrop fence calls this function.'))}
  END IF;
  PERFORM pg_advisory_xact_lock(${LOCK_CLASS}, {position}::regclass::oid::int);
  opened := pg_sequence_last_value({tick}::regclass);
  PERFORM setval({tick}::regclass, 0);
  -- The last place before a tick that is not open: a call that still draws gets no place of the tick that it saw open.
  -- It stands as drawn only where a tick was opened: the function _open asks.
  PERFORM setval({position}::regclass, ${shiftUp(layout, `(${next})`)} - 1, is_called) FROM {counter};
END $close$`;
}

/**
 * Closes every function that issues for a row of the table, up to the end of the fence: the last step of a fence. A
 * function that was dropped, with its `_open`, is left out.
 * @throws the first refusal, after all functions were tried
 */
export async function closeDatabaseIds(
  run: RunStatement,
  dialect: Dialect,
  table: TableName,
  { issuedUntilMs }: Pick<FenceRequest, 'issuedUntilMs'>,
): Promise<void> {
  const { records } = await run(
    `SELECT ${dialect.quote('holder')} FROM ${quoteTable(dialect, table)} WHERE ${isDatabaseRow(dialect)}`,
  );
  const failures: unknown[] = [];
  for (const { holder } of records) {
    // Nothing else than a name becomes part of a statement.
    if (!isFunctionName(String(holder))) continue;
    try {
      const name = parseTableName(String(holder));
      if (!(await isInstalled(run, dialect, table, name))) continue;
      const close = quoteTable(dialect, { ...name, name: `${name.name}_close` });
      const until = ofState(dialect, table, 'fenced_until_ms');
      await run(`SELECT ${close}(${until}, ${issuedUntilMs === undefined ? 'false' : 'true'})`);
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}

/**
 * Whether the function can issue. Without `<name>` it can again when it is installed anew, without `<name>_open` it can until
 * the open tick ends. An account that may UPDATE the table may name any function in the row. So a
 * fence calls only functions of the table's owner.
 * @throws DatabaseCallError for functions of another role
 */
async function isInstalled(run: RunStatement, dialect: Dialect, table: TableName, name: TableName): Promise<boolean> {
  const procedure = (suffix: string, parameters: string): string =>
    `to_regprocedure(${literal(`${quoteTable(dialect, { ...name, name: name.name + suffix })}(${parameters})`)})`;
  const owner = `(SELECT relowner FROM pg_class WHERE oid = to_regclass(${literal(quoteTable(dialect, table))}))`;
  const { records } = await run(
    `SELECT coalesce(${procedure('', '')}, ${procedure('_open', 'bigint')}) IS NOT NULL AS is_there, EXISTS (SELECT 1 FROM pg_proc ` +
      `WHERE oid = ${procedure('_close', 'bigint, boolean')} AND proowner = ${owner}) AS is_owners`,
  );
  const { is_there: isThere, is_owners: isOwners } = records[0] ?? {};
  if (isThere !== true || isOwners === true) return isThere === true;
  throw new DatabaseCallError(
    `the function ${nameOf(name)}_close is missing, or does not belong to the owner of ${nameOf(table)}: install it ` +
      `again as that role (raindrop sql --issue), and fence again`,
    '',
  );
}

/** The condition for the rows that belong to functions of the database. */
export function isDatabaseRow(dialect: Dialect): string {
  return `${dialect.quote('code')} = '${DATABASE_CODE}' AND ${dialect.quote('del_flag')} <> 2`;
}

/** The rows' condition for the row `w` of this function. @param name its name as a literal */
function isDatabaseRowOf({ layout, workerId }: DatabaseIds, name: string): string {
  const quote = name === '%L' ? "''" : "'";
  return `w.id = ${workerId} AND w.del_flag <> 2 AND w.code = ${quote}${DATABASE_CODE}${quote} AND w.holder = ${name} AND w.layout = ${quote}${layout.fingerprint}${quote}`;
}

/** A SELECT of the layouts of a source that could repeat IDs of ours, as one text; NULL for none. */
function conflictsSql(layout: Layout, source: string, and = ''): string {
  const [, bits, value] = /\.e(\d+)=(\d+)$/.exec(layout.fingerprint) ?? [];
  const [theirBits, theirValue] = ['[.]e([0-9]+)=[0-9]+$', '[.]e[0-9]+=([0-9]+)$'].map(
    (pattern) => `substring(layout FROM ${literal(pattern)})::numeric`,
  );
  // Fixed low bits on both sides that differ in the bits that both have: see Layout.disjointFrom.
  const shared = `power(2::numeric, least(${bits}, ${theirBits}))`;
  const isDisjoint = `coalesce(mod(${value}, ${shared}) <> mod(${theirValue}, ${shared}), false)`;
  return (
    `SELECT string_agg(layout, ', ' ORDER BY layout) FROM (${source}) known ` +
    `WHERE layout NOT IN ('', ${literal(layout.fingerprint)}) ${and}${bits === undefined ? '' : ` AND NOT ${isDisjoint}`}`
  );
}

/** Every layout that the tables know. */
function knownLayouts(workers: string, layouts: string): string {
  return `SELECT layout FROM ${workers} UNION SELECT fingerprint FROM ${layouts}`;
}

/** The layouts of the rows that processes hold. */
function heldLayouts(workers: string, graceMs: number): string {
  return `SELECT DISTINCT layout FROM ${workers} WHERE del_flag = 2 AND token <> '' AND lease_until + ${graceMs} > ${NOW_MS}`;
}

/**
 * How far all IDs of other layouts lie back, ms; NULL where no process holds a row with this layout. Such a process has
 * started after all IDs of others: both its lanes began after them.
 */
function servedSql({ fingerprint }: Layout, workers: string): string {
  const isLive = `del_flag = 2 AND layout = ${literal(fingerprint)} AND token <> '' AND own_version = version AND lease_until > ${NOW_MS}`;
  return `SELECT max(least(odo0_ms, odo1_ms)) FROM ${workers} WHERE ${isLive}`;
}

/** The files of two sequences, as text: ALTER SEQUENCE makes new ones. */
function filesSql(position: string, tick: string): string {
  const [one, other] = [position, tick].map((sequence) => `pg_catalog.pg_relation_filenode(${sequence})`);
  return `pg_catalog.concat_ws('.', ${one}, ${other})`;
}

function grant(object: (suffix: string) => string, role: string): string {
  const to = literal(role.toLowerCase() === 'public' ? 'PUBLIC' : postgresDialect.quote(role));
  const run = (sql: string, suffix: string): string =>
    `  EXECUTE format('GRANT ${sql} TO ', ${object(suffix)}) || ${to};`;
  return [
    `  EXECUTE format('GRANT USAGE ON SCHEMA %I TO ', home) || ${to};`,
    run('EXECUTE ON FUNCTION %s()', ''),
    run('EXECUTE ON FUNCTION %s(bigint)', '_open'),
    run('USAGE ON SEQUENCE %s', '_position'),
    run('SELECT ON SEQUENCE %s', '_tick'),
  ].join('\n');
}

/** @param message @param hint expressions */
function raise(code: string, message: string, hint: string): string {
  return `RAISE EXCEPTION USING ERRCODE = '${code}', MESSAGE = ${message}, HINT = ${hint};`;
}

/** The clock, Unix ms. */
const NOW_MS = 'floor(extract(epoch FROM pg_catalog.clock_timestamp()) * 1000)::bigint';

/** The tick of a moment, which is after 1970. */
function tickOf({ unitMs, timeline }: Layout, ms: string): string {
  return `(${ms} / ${unitMs} - ${timeline.epochTick})`;
}

/** The start of a tick, Unix ms. */
function startMs({ unitMs, timeline }: Layout, tick: string): string {
  return `((${tick} + ${timeline.epochTick}) * ${unitMs})`;
}

function sequenceBits({ fields }: Layout): number {
  return fields.find(({ role }) => role === 'sequence')!.bits;
}

/** The first place of a tick. */
function shiftUp(layout: Layout, tick: string): string {
  return `(${tick} << ${sequenceBits(layout)})`;
}

function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

function nameOf({ schema, name }: TableName): string {
  return schema === undefined ? name : `${schema}.${name}`;
}

/** A dollar quote that does not occur in the text. */
function tagFor(text: string, stem: string): string {
  let tag = `${stem}$`;
  for (let number = 1; text.includes(tag); number++) tag = `${stem}${number}$`;
  return tag;
}
