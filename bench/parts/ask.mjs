// Answers one question, to the process that asks.
import { pathToFileURL } from 'node:url';

const { question, measure } = await import(pathToFileURL(process.argv[2]).href);
const answer = { question, ...(await measure()) };
process.send(answer, () => process.exit());
