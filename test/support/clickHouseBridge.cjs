// Serves ClickHouse's engine over HTTP, as far as its client and the product's statements need: a statement in
// `query=` or the body, param_NAME, settings as URL parameters, errors with X-ClickHouse-Exception-Code. Arguments:
// the folder of chdb, a data folder, the password of the user `floodgate`, a port (0 for any). Prints "listening
// PORT".
const { createServer } = require('node:http');
const { rmSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');

const [, , chdb, folder, password, port] = process.argv;
const { Session } = require(chdb);
const session = new Session(join(folder, 'data'), { connectionArgs: ['--max_threads=2'] });

/** Parameters of the HTTP interface, which the engine does not know. */
const OF_HTTP = new Set([
  'query',
  'database',
  'default_format',
  'query_id',
  'session_id',
  'role',
  'compress',
  'wait_end_of_query',
]);
const INSERT = /^\s*INSERT INTO (\w+) \(([\w, ]+)\) FORMAT (\w+)\s*$/;
/** Statements that can contain a SETTINGS clause, which is cheaper than SET statements. */
const SELECT = /^\s*SELECT\b/;
const AUTHENTICATION_FAILED = 516;

const sessionSettings = new Map();
const types = new Map();
let querySize;
let turn = Promise.resolve();
let files = 0;

async function carryOut(url, body) {
  const inUrl = url.searchParams.get('query');
  const statement = inUrl ?? body.toString();
  const params = {};
  const wanted = new Map();
  for (const [name, value] of url.searchParams)
    if (name.startsWith('param_')) params[name.slice('param_'.length)] = value;
    else if (!OF_HTTP.has(name)) wanted.set(name, value);
  await setQuerySize(wanted);
  const insert = INSERT.exec(statement);
  const hasOwn = insert !== null || SELECT.test(statement);
  await setAll(hasOwn ? new Map() : wanted);
  const settings = hasOwn ? settingsOf(wanted) : '';
  if (insert === null)
    return run(statement + settings, params, url.searchParams.get('default_format') ?? 'TabSeparated');
  const [, table, columns, format] = insert;
  const file = join(folder, `insert-${files++}`);
  writeFileSync(file, body);
  try {
    const structure = await structureOf(table, columns.split(', '));
    return await run(
      `INSERT INTO ${table} (${columns}) SELECT * FROM file('${file}', '${format}', '${structure}')${settings}`,
      {},
      'Null',
    );
  } finally {
    rmSync(file);
  }
}

/**
 * Moves the limit of a statement's size from the settings into the session, because it applies before a SETTINGS clause
 * is read. It stays there, because most statements have the same limit.
 */
async function setQuerySize(wanted) {
  const size = wanted.get('max_query_size');
  wanted.delete('max_query_size');
  if (size === undefined || size === querySize) return;
  await session.queryAsync(`SET max_query_size = ${Number(size)}`);
  querySize = size;
}

/** Returns the names and types of columns. They are read once for each table. */
async function structureOf(table, columns) {
  const read = async () => {
    const rows = await run(`DESCRIBE TABLE ${table}`, {}, 'TabSeparated');
    return new Map(
      rows
        .toString()
        .split('\n')
        .map((row) => row.split('\t')),
    );
  };
  if (!types.has(table)) types.set(table, await read());
  return columns.map((column) => `${column} ${types.get(table).get(column)}`).join(', ');
}

const assignment = ([name, value]) => `${name} = '${value.replaceAll(/[\\']/g, '\\$&')}'`;

const settingsOf = (wanted) =>
  wanted.size === 0 ? '' : ` SETTINGS ${[...wanted].map(assignment).join(', ')}`;

/** Changes the settings of the session, and resets those of the previous statement. */
async function setAll(wanted) {
  for (const name of [...sessionSettings.keys()].filter((known) => !wanted.has(known))) {
    await session.queryAsync(`SET ${name} = DEFAULT`);
    sessionSettings.delete(name);
  }
  for (const [name, value] of wanted) {
    if (sessionSettings.get(name) === value) continue;
    await session.queryAsync(`SET ${assignment([name, value])}`);
    sessionSettings.set(name, value);
  }
}

async function run(statement, params, format) {
  const isBound = Object.keys(params).length > 0;
  const result = isBound
    ? await session.queryBindAsync(statement, params, { format })
    : await session.queryAsync(statement, { format });
  return Buffer.from(result.bytes());
}

function refuse(response, code, text) {
  const status = code === AUTHENTICATION_FAILED ? 401 : 500;
  response.writeHead(status, { 'X-ClickHouse-Exception-Code': String(code), 'Content-Type': 'text/plain' });
  response.end(text);
}

const isAllowed = ({ headers }) =>
  headers.authorization === `Basic ${Buffer.from(`floodgate:${password}`).toString('base64')}` ||
  (headers['x-clickhouse-user'] === 'floodgate' && headers['x-clickhouse-key'] === password);

const server = createServer({ maxHeaderSize: 4 * 1024 * 1024 }, async (request, response) => {
  const pieces = [];
  for await (const piece of request) pieces.push(piece);
  const url = new URL(request.url, 'http://localhost');
  if (url.pathname === '/ping') return response.end('Ok.\n');
  if (!isAllowed(request))
    return refuse(
      response,
      AUTHENTICATION_FAILED,
      `Code: ${AUTHENTICATION_FAILED}. DB::Exception: Authentication failed. (AUTHENTICATION_FAILED)`,
    );
  // There is one session, so statements run one after another.
  const answered = turn.then(() => carryOut(url, Buffer.concat(pieces)));
  turn = answered.catch(() => undefined);
  try {
    const bytes = await answered;
    response.writeHead(200, { 'Content-Type': 'application/octet-stream', 'X-ClickHouse-Summary': '{}' });
    response.end(bytes);
  } catch (error) {
    const text = String(error?.message ?? error);
    const [, code = '1000'] = /Code: (\d+)/.exec(text) ?? [];
    refuse(response, Number(code), text);
  }
});

async function start() {
  for (const statement of ['CREATE DATABASE IF NOT EXISTS floodgate ENGINE = Atomic', 'USE floodgate'])
    await session.queryAsync(statement);
  server.keepAliveTimeout = 10_000;
  server.listen(Number(port), '127.0.0.1', () =>
    process.stdout.write(`listening ${server.address().port}\n`),
  );
}

start();
