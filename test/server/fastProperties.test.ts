import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const compiled = (file: string): string => fileURLToPath(new URL(`../../dist/${file}`, import.meta.url));
const FILES = ['platform/http/fastProperties.js', 'platform/http/httpClasses.js'].map(compiled);

/** A server that is asked now and then, and whose heap is collected in between: what V8 says of its requests, responses and ticks. */
const PROGRAM = `
import { createServer, get } from 'node:http';
import { json } from 'node:stream/consumers';
import { getHeapSnapshot } from 'node:v8';
const [isKept, properties, classes] = process.argv.slice(1);
const { keepPropertiesFast } = await import(properties);
const { HTTP_CLASSES } = await import(classes);
if (isKept === 'kept') keepPropertiesFast();
let isFast;
const server = createServer(HTTP_CLASSES, (request, response) => {
  isFast = [%HasFastProperties(request), %HasFastProperties(response)];
  response.end();
});
await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
const ask = () => new Promise((answered) => get(server.address(), (answer) => answer.resume().on('end', () => setImmediate(answered))));
// The layout of the tick that waits to call it, by the id that a snapshot has for it.
async function layoutOfTick(marked) {
  process.nextTick(marked);
  const { snapshot: { meta }, nodes, edges, strings } = await json(getHeapSnapshot());
  const [ofNode, ofEdge] = [meta.node_fields, meta.edge_fields];
  const at = (fields, all, start, name) => all[start + fields.indexOf(name)];
  const named = (start) => strings[at(ofNode, nodes, start, 'name')];
  for (let node = 0, edge = 0; node < nodes.length; node += ofNode.length) {
    const of = {};
    for (let left = at(ofNode, nodes, node, 'edge_count'); left > 0; left--, edge += ofEdge.length)
      of[strings[at(ofEdge, edges, edge, 'name_or_index')]] = at(ofEdge, edges, edge, 'to_node');
    if (of.callback !== undefined && named(of.callback) === 'marked') return at(ofNode, nodes, of.map, 'id');
  }
}
const layout = await layoutOfTick(function marked() {});
for (let i = 0; i < 10; i++) {
  await ask();
  for (let collections = 0; collections < 4; collections++) gc();
}
await ask();
const keepsTicks = layout === (await layoutOfTick(function marked() {}));
console.log(JSON.stringify({ isFast, keepsTicks }));
server.close();
`;

async function told(isKept: 'kept' | 'left alone'): Promise<unknown> {
  const flags = ['--expose-gc', '--allow-natives-syntax', '--input-type=module', '-e', PROGRAM];
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, '--', isKept, ...FILES]);
  return JSON.parse(stdout);
}

it('what node makes for each request is fast for V8, whatever is collected between the first requests', async () => {
  expect(await told('kept')).toEqual({ isFast: [true, true], keepsTicks: true });
  // So that this does not pass because V8 has come to do without.
  expect(await told('left alone')).toEqual({ isFast: [false, false], keepsTicks: false });
});
