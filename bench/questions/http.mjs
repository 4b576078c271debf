// The load comes from this process, so that on two cores it and the server have one each.
import autocannon from 'autocannon';
import { median } from 'simple-statistics';
import { startBare, startServiceProcess } from '../parts/http-servers.mjs';
import { orMoment } from '../parts/moment.mjs';

export const question = 'How much of a bare Fastify server is left in the ID service?';

const CONNECTIONS = 30;
const CHECKED_ANSWERS = orMoment(400, CONNECTIONS);

/** Many and short: what else the machine does then falls on both sides of a ratio. */
const ROUNDS = orMoment(11, 1);
const WARM_UP_S = orMoment(1.2, 0.2);
const ROUND_S = orMoment(0.6, 0.2);
/** Autocannon looks so often whether a round is over. */
const LOOK_MS = 100;

const NOTE = 'the same bytes, standing ready, under the same headers';

/** One code's sequence holds 262,144 IDs a second in the service's layout: with 400 of them capacity does not decide. */
const CODES = 400;

const KINDS = [
  { name: 'one ID', count: 1, paths: ['/v1/ids'], atLeast: 0.7 },
  {
    name: '1,000 IDs',
    count: 1_000,
    paths: Array.from({ length: CODES }, (_, code) => `/v1/ids?count=1000&code=kind-${code}`),
    atLeast: 0.65,
  },
];

export async function measure() {
  const figures = [];
  const ratios = [];
  const service = await startServiceProcess();
  try {
    for (const kind of KINDS) {
      const rates = await compare(service, kind);
      const figure = (server, rate) => ({ name: `${kind.name}: ${server}`, value: median(rate), unit: 'requests/s' });
      figures.push(figure('service', rates.service), figure('bare Fastify', rates.bare));
      const value = median(rates.service.map((rate, round) => rate / rates.bare[round]));
      ratios.push({ name: `${kind.name}: service / bare Fastify`, value, atLeast: kind.atLeast, note: NOTE });
    }
  } finally {
    await service.stop();
  }
  return { figures, ratios };
}

/** Requests per second of the service and of a bare server that always sends one of its answers, round by round. */
async function compare(service, kind) {
  await checkAnswers(service, kind);
  const bare = await startBare(await answerOf(service, kind.paths[0]));
  try {
    const rates = { service: [], bare: [] };
    for (const server of [service, bare]) await load(server, kind, WARM_UP_S);
    for (let round = 0; round < ROUNDS; round++) {
      rates.service.push(await load(service, kind, ROUND_S));
      rates.bare.push(await load(bare, kind, ROUND_S));
    }
    return rates;
  } finally {
    await bare.stop();
  }
}

async function load({ url }, { paths }, duration) {
  const requests = paths.map((path) => ({ method: 'POST', path }));
  const result = await autocannon({ url, connections: CONNECTIONS, duration, sampleInt: LOOK_MS, requests });
  const { errors, non2xx } = result;
  if (errors + non2xx > 0) throw new Error(`${url}: ${errors} errors, ${non2xx} answers were refusals`);
  return result.requests.total / result.duration;
}

/** Under the same load: every answer is a 201 with as many IDs as were asked for, none of them issued before. */
async function checkAnswers({ url }, { paths, count }) {
  const seen = new Map(paths.map((path) => [path, new Set()]));
  const faults = [];
  const requests = paths.map((path) => ({
    method: 'POST',
    path,
    onResponse: (status, body) => {
      const ids = status === 201 ? JSON.parse(body).ids : [];
      if (ids.length !== count) faults.push(`status ${status} with ${ids.length} IDs instead of ${count}`);
      const known = seen.get(path);
      for (const id of ids) {
        if (known.has(id)) faults.push(`${id} was issued twice`);
        known.add(id);
      }
    },
  }));
  await autocannon({ url, connections: CONNECTIONS, amount: CHECKED_ANSWERS, requests });
  if (faults.length > 0) throw new Error(`POST /v1/ids: ${faults.length} faults, the first: ${faults[0]}`);
}

async function answerOf({ url }, path) {
  const answer = await fetch(`${url}${path}`, { method: 'POST' });
  const headers = Object.fromEntries(answer.headers);
  // Node and Fastify write these themselves.
  for (const name of ['connection', 'content-length', 'date', 'keep-alive']) delete headers[name];
  return { headers, body: await answer.text() };
}
